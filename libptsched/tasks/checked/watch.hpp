/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_TASKS_CHECKED_WATCH_HPP
#define PTSCHED_TASKS_CHECKED_WATCH_HPP

#include "libptsched/base/bad_access.hpp"
#include "libptsched/tasks/checked/bytes.hpp"

#include <csignal>
#include <memory>
#include <optional>
#include <pthread.h>

namespace ptsched::tasks {

/* What a task is not to do with which bytes. */
struct Watched {
    ByteSet closed;  /* pages that are not to be touched */
    ByteSet guards;  /* the same; nobody may touch them at other times, either */
    ByteSet to_read; /* pages that are not to be written */
    ByteSet kept;    /* other bytes that are not to be written */
};

/*
 * Sees what the calling thread touches of what it is not to, while it lives. One at a time in a process: a page is
 * closed for all threads, but what others touch is let through, and not reported. Calls of the kernel fail with EFAULT
 * there.
 */
class Watch {
public:
    struct Touch {
        std::uintptr_t begin, end; /* the same: of how many bytes is not known */
        bool is_write;
    };

    /* Throws std::bad_alloc, and Error if there are too many handlers of accesses. */
    explicit Watch(Watched watched);
    ~Watch() { end(); }
    Watch(const Watch &) = delete;
    Watch &operator=(const Watch &) = delete;

    /* Opens all again. Returns what was touched, in the order of addresses; once. */
    std::vector<Touch> end();

private:
    static constexpr std::size_t most_faults = 256, most_saved = 64;
    /* A page before it was written. */
    struct Saved {
        std::uintptr_t page;
        std::byte bytes[page_bytes];
    };
    struct Fault {
        std::uintptr_t address;
        bool is_write;
    };

    bool on_fault(const BadAccess &access);
    void close(const ByteSet &pages, int protection);
    void keep(const ByteSet &bytes);
    void open();
    void add_kept(std::vector<Touch> &touches) const;
    void add_faults(std::vector<Touch> &touches) const;
    static bool difference(Bytes bytes, const std::byte *before, std::vector<Touch> &touches);

    Watched watched_;
    const bool is_passive_; /* no page is closed */
    const pthread_t thread_ = pthread_self();
    sigset_t signals_before_;
    std::optional<BadAccessHandler> handler_;
    std::vector<std::byte> copies_; /* of what is kept */
    const std::unique_ptr<Saved[]> saved_{new Saved[most_saved]};
    Fault faults_[most_faults];
    std::size_t fault_count_ = 0, saved_count_ = 0;
    bool has_ended_ = false;
};

} // namespace ptsched::tasks

#endif /* PTSCHED_TASKS_CHECKED_WATCH_HPP */
