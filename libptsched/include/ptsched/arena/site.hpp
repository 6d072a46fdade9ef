/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_ARENA_SITE_HPP
#define PTSCHED_ARENA_SITE_HPP

namespace ptsched::arena {

/* Where a program allocates a block: a line, or what has called a function of C. */
struct Site {
    const char *file = nullptr;
    unsigned line = 0;
    const void *caller = nullptr;

    /* Of whom it is the default argument. */
    static constexpr Site here(const char *file = __builtin_FILE(), unsigned line = __builtin_LINE())
    {
        return {file, line, nullptr};
    }
};

} // namespace ptsched::arena

#endif /* PTSCHED_ARENA_SITE_HPP */
