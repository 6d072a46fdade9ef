/* SPDX-License-Identifier: MIT */
/*
 * A GPU, and the process's place among the scheduler's clients on it: the word that says whose turn it is, what the
 * program has used, and how much of that the scheduler has been told.
 */
#ifndef PTSCHED_PRELOAD_TURN_ATTACHMENT_HPP
#define PTSCHED_PRELOAD_TURN_ATTACHMENT_HPP

#include "libptsched/preload/meter/meter.hpp"
#include <ptsched/ptsched.h>

#include <atomic>
#include <mutex>

namespace ptsched::preload {

class Attachment {
public:
    /* @index: how many there were before; @name: by which the scheduler has it. */
    Attachment(unsigned index, CUdevice ordinal, const char *address, const char *name);
    Attachment(const Attachment &) = delete;
    Attachment &operator=(const Attachment &) = delete;

    unsigned index() const { return index_; }
    CUdevice ordinal() const { return ordinal_; }
    /* On the PCI bus; the instances of a GPU that MIG divides have one in common. */
    const char *address() const { return address_; }
    const char *name() const { return name_; }

    /* The word that submissions look at: the scheduler's, or a constant one for a device that is not scheduled. */
    const std::uint32_t *state_word() const { return state_word_.load(std::memory_order_acquire); }
    std::uint32_t state() const { return __atomic_load_n(state_word(), __ATOMIC_ACQUIRE); }
    bool scheduled() const { return state_word() != &open_state; }

    ptsched_client *client() const { return client_; }
    const ptsched_page *page() const { return page_; }
    /* With other programs: none can be taken off the hardware alone. */
    bool shares_channels() const { return shares_channels_; }

    /* Calls @attach, once; afterwards the device is scheduled or open for good. */
    template <class Fn> void attach_once(Fn attach) { std::call_once(attached_, attach); }
    void become_client(ptsched_client *client, bool shares_channels);

    /* Contexts on it, which stay known when they have ended. One thread at a time adds. */
    void add_context(Context &context);
    /* One that is alive; NULL: none. */
    Context *any_context() const;

    void add_submissions(std::uint64_t count) { submissions_.fetch_add(count, std::memory_order_relaxed); }
    std::uint64_t submissions() const;
    /* A thread is about to submit, or to wait for a turn. */
    void submitter_runs_on(int cpu) { submitters_cpu_.store(cpu, std::memory_order_relaxed); }
    /* Where the last one ran; -1: there was none. */
    int submitters_cpu() const { return submitters_cpu_.load(std::memory_order_relaxed); }

    Meter meter;

    /* A submission under contention could not be measured. */
    void note_unmeasured() { unmeasured_.store(true, std::memory_order_release); }
    /* Whether there was one; whoever asks is to put an end event behind it. */
    bool take_unmeasured() { return unmeasured_.exchange(false, std::memory_order_acquire); }
    /*
     * Whether all that may be in flight after so many page events was measured or has an end event behind it; true,
     * too, where one more event led from a state in which everything is measured to another such state. In other
     * states it is so until the next submission.
     */
    bool all_measured(std::uint32_t events, std::uint32_t state);
    /* @submissions: the first so many. */
    void set_fenced(std::uint32_t events, std::uint32_t state, std::uint64_t submissions);
    /* The same, for a turn that begins with nothing in flight that was not measured; nothing, in other states. */
    void begin_measured(std::uint32_t events);

    /* What to tell the scheduler since the last time. The first so many submissions have @ended; 0: not known. */
    ptsched_usage take_usage(std::uint64_t ended);
    /* GPU time of this turn that was told to the scheduler. */
    std::uint64_t take_turn_gpu_ns() { return turn_gpu_ns_.exchange(0, std::memory_order_relaxed); }
    bool report_due(std::uint64_t now, std::uint64_t interval_ns) const
    {
        return now - reported_ns_.load(std::memory_order_relaxed) >= interval_ns;
    }
    /* Unless the last report is younger. */
    void report(std::uint64_t now, std::uint64_t interval_ns);
    /* Reports by the agent: the program has come to rest after so many submissions; it ends. */
    void report_rest(std::uint64_t submissions);
    void report_end(std::uint64_t now);

protected:
    /* Away from the scheduler's word, and back to it. False: that was so before. */
    bool leave_word();
    void return_to_word() { state_word_.store(&page_->state, std::memory_order_release); }

private:
    static const std::uint32_t open_state;

    const unsigned index_;
    CUdevice ordinal_;
    char address_[PTSCHED_NAME_LEN];
    char name_[PTSCHED_NAME_LEN];
    std::once_flag attached_;
    ptsched_client *client_{nullptr};
    const ptsched_page *page_{nullptr};
    bool shares_channels_{false};
    std::atomic<const std::uint32_t *> state_word_;
    std::atomic<Context *> first_context_{nullptr};
    Context *last_context_{nullptr};
    std::atomic<int> submitters_cpu_{-1};
    std::atomic<bool> unmeasured_{false};
    std::atomic<std::uint32_t> fenced_{~0u};     /* page events up to which unmeasured work has an end event */
    std::atomic<std::uint32_t> fenced_state_{0}; /* the state that was seen then */
    std::atomic<std::uint64_t> fenced_submissions_{0};
    std::atomic<std::uint64_t> submissions_{0};
    std::atomic<std::uint64_t> reported_submissions_{0};
    std::atomic<std::uint64_t> turn_gpu_ns_{0};
    std::atomic<std::uint64_t> reported_ns_{0};
};

} // namespace ptsched::preload

#endif
