/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_BASE_ERROR_HPP
#define PTSCHED_BASE_ERROR_HPP

#include <stdexcept>

#pragma GCC visibility push(default)

namespace ptsched {

/* What the libraries throw: it says what is wrong, and what would be right. */
class Error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

} // namespace ptsched

#pragma GCC visibility pop

#endif /* PTSCHED_BASE_ERROR_HPP */
