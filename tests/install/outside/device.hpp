/* SPDX-License-Identifier: MIT */
/* The program's own, by a name that a library's header has, too. */
#ifndef DEVICE_HPP
#define DEVICE_HPP

struct Device {
    int answer = 6;
};

#endif
