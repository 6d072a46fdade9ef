/* SPDX-License-Identifier: MIT */
/* A global that is there before any constructor runs and still there after all destructors. */
#ifndef PTSCHED_PRELOAD_COMMON_IMMORTAL_HPP
#define PTSCHED_PRELOAD_COMMON_IMMORTAL_HPP

namespace ptsched::preload {

template <class T> union Immortal {
    T value;
    constexpr Immortal() : value() {}
    constexpr ~Immortal() {}
};

} // namespace ptsched::preload

#endif
