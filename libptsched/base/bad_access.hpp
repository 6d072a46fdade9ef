/* SPDX-License-Identifier: MIT */
/* Accesses to memory whose protection does not allow them (SIGSEGV), for who protects it to find out about them. */
#ifndef PTSCHED_BASE_BAD_ACCESS_HPP
#define PTSCHED_BASE_BAD_ACCESS_HPP

#include <cstddef>
#include <cstdint>

namespace ptsched {

struct BadAccess {
    std::uintptr_t address;
    bool is_write;
};

/*
 * As long as it lives, it is asked about such accesses of all threads, which may be at once. What none of these takes
 * for its own goes to who handled the signal before the first of them, or ends the process as ever.
 */
class BadAccessHandler {
public:
    /* Called as a signal's handler: true if the access is to be done again. */
    using Function = bool (*)(void *self, const BadAccess &access);
    /* How many there may be at once. */
    static constexpr std::size_t most = 64;

    /* Throws Error if there are too many. */
    BadAccessHandler(Function function, void *self);
    /* Waits for calls of its function; not to be destroyed by it. */
    ~BadAccessHandler();
    BadAccessHandler(const BadAccessHandler &) = delete;
    BadAccessHandler &operator=(const BadAccessHandler &) = delete;

private:
    std::size_t slot_;
};

} // namespace ptsched

#endif /* PTSCHED_BASE_BAD_ACCESS_HPP */
