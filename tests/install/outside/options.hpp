/* SPDX-License-Identifier: MIT */
/* As device.hpp. */
#ifndef OPTIONS_HPP
#define OPTIONS_HPP

struct Options {
    int factor = 7;
};

#endif
