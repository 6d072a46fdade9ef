/* SPDX-License-Identifier: MIT */
/*
 * What is to be done when work has ended. One thread of a process looks after all of it: at no time that nothing waits,
 * and of what waits the more rarely the longer it is expected to take.
 *
 *	Completions completions;
 *	completions.when(queue.mark(), [&](std::exception_ptr failure) { ... });
 *	completions.drain();
 */
#ifndef PTSCHED_DEVICE_COMPLETIONS_HPP
#define PTSCHED_DEVICE_COMPLETIONS_HPP

#include <ptsched/device/device.hpp>

#include <chrono>
#include <exception>

namespace ptsched::device {

struct CompletionsImpl;

} // namespace ptsched::device

#pragma GCC visibility push(default)

namespace ptsched::device {

/* Those of one user, who waits for them before he goes. Thread-safe. */
class Completions {
public:
    /* @failure: what Marker::wait() would throw; null if the work has done well. */
    using Callback = std::function<void(std::exception_ptr failure)>;

    /* How many may wait at once. */
    static constexpr std::size_t usual_limit = 65536;
    explicit Completions(std::size_t limit = usual_limit);
    /* Waits as drain() does, and forgets what call-backs threw. Not by a call-back. */
    ~Completions();
    Completions(const Completions &) = delete;
    Completions &operator=(const Completions &) = delete;

    /*
     * @then is called once, when @marker is reached or its work has failed, by the thread that looks, which holds no
     * lock: it is to be short and must not wait for what other call-backs do. It may call when(). They come in no
     * particular order. @expected says how long the work is likely to take from now on, if somebody knows: it is not
     * looked at before most of that is over. Does not block. Throws Error if as many wait already as may, or if there
     * is no thread and none can be made; then @then is not called.
     */
    void when(MarkerPtr marker, Callback then, std::chrono::nanoseconds expected = {});
    /*
     * Blocks until none waits and none is being called. Throws what the first call-back threw that did since the last
     * time; Error if it is called by a call-back. In a forked child, which has none of the work, none waits.
     */
    void drain();
    /* The same for so long at most; false if some still wait. */
    bool drain_for(std::chrono::nanoseconds most);
    /* Those that are being called, included. */
    std::size_t waiting() const;

private:
    const std::unique_ptr<CompletionsImpl> impl_;
};

} // namespace ptsched::device

#pragma GCC visibility pop

#endif /* PTSCHED_DEVICE_COMPLETIONS_HPP */
