/* SPDX-License-Identifier: MIT */
/*
 * Closes files for which the driver may have much to do: the last one of a process that has ended takes the device's
 * memory from it, which takes long where it had much. A thread of its own does that, so that nobody's switch waits.
 */
#ifndef PTSCHEDD_FILE_CLOSER_HPP
#define PTSCHEDD_FILE_CLOSER_HPP

#include "libptsched/base/lock.hpp"
#include "tools/ptschedd/event_loop.hpp"
#include <ptsched/base/fd.hpp>

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <thread>

namespace ptsched {

class FileCloser {
public:
    using Close = std::function<void(UniqueFd)>;

    /* @close closes one, and may take long; it is called on the thread. */
    explicit FileCloser(
        EventLoop &loop, Close close = [](UniqueFd) {});
    /* Closes what was given to it first. */
    ~FileCloser();
    FileCloser(const FileCloser &) = delete;
    FileCloser &operator=(const FileCloser &) = delete;

    /* The thread closes it when nobody has it any more. Whoever has it must not outlive this object. */
    std::shared_ptr<const UniqueFd> keep(UniqueFd file);

    /* Some that nobody has any more are still open. When there are none any more, the event loop wakes up. */
    bool is_busy() const;

private:
    void give(UniqueFd file);
    void work();

    EventLoop &loop_;
    const Close close_;
    UniqueFd idle_fd_;
    std::uint64_t key_;
    mutable Mutex lock_;
    std::condition_variable given_;
    std::deque<UniqueFd> files_ PTSCHED_GUARDED_BY(lock_);
    bool closing_ PTSCHED_GUARDED_BY(lock_) = false;
    bool stopping_ PTSCHED_GUARDED_BY(lock_) = false;
    std::thread thread_;
};

} // namespace ptsched

#endif
