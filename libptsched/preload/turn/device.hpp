/* SPDX-License-Identifier: MIT */
/*
 * A GPU as the program uses it, and the process's place among the scheduler's clients on it.
 *
 * Objects are made when first needed and live as long as the process; a forked child leaves its parent's behind.
 */
#ifndef PTSCHED_PRELOAD_TURN_DEVICE_HPP
#define PTSCHED_PRELOAD_TURN_DEVICE_HPP

#include "libptsched/client/acknowledged.hpp"
#include "libptsched/preload/meter/meter.hpp"
#include "libptsched/preload/meter/stall.hpp"
#include "libptsched/preload/turn/above.hpp"
#include "libptsched/preload/turn/linger.hpp"
#include "libptsched/preload/turn/preemption.hpp"

#include <ptsched/ptsched.h>

#include <atomic>
#include <mutex>
#include <vector>

namespace ptsched::preload {

/* In a submission only this state lets through without a further look. */
inline constexpr std::uint32_t fast_mask =
    PTSCHED_STATE_TURN | PTSCHED_STATE_CALLBACK | PTSCHED_STATE_EXACT | PTSCHED_STATE_DEAD;

class Device {
public:
    /* @index: how many there were before; @name: by which the scheduler has it. */
    Device(unsigned index, CUdevice ordinal, const char *address, const char *name);

    /* The word that submissions look at: the scheduler's, or a constant one for a device that is not scheduled. */
    const std::uint32_t *state_word() const { return state_word_.load(std::memory_order_acquire); }
    std::uint32_t state() const { return __atomic_load_n(state_word(), __ATOMIC_ACQUIRE); }
    bool scheduled() const { return state_word() != &open_state; }

    /* Attaches, once; afterwards the device is scheduled or open for good. */
    void attach();
    /* What the first submission would wait for, while the program makes @context, which takes much longer. */
    void get_ready(Context &context);
    /* From now on submissions go straight through; says why, once. */
    void open_gate(const char *why);
    /* The same, where the scheduler, or the way to it, is lost. */
    void scheduler_is_gone();
    /* The same while a context cannot be used any more, until it has ended. */
    void open_gate_of_lost_context();
    void context_has_ended();

    unsigned index() const { return index_; }
    CUdevice ordinal() const { return ordinal_; }
    void add_submissions(std::uint64_t count) { submissions_.fetch_add(count, std::memory_order_relaxed); }
    std::uint64_t submissions() const;

    ptsched_client *client() const { return client_; }
    const ptsched_page *page() const { return page_; }

    /* With other programs: none can be taken off the hardware alone. */
    bool shares_channels() const { return shares_channels_; }

    /* On the PCI bus; the instances of a GPU that MIG divides have one in common. */
    const char *address() const { return address_; }

    /* Of the process; NULL: the last one. */
    Device *next() const { return next_.load(std::memory_order_acquire); }
    void set_next(Device *device) { next_.store(device, std::memory_order_release); }

    Meter meter;
    Preemption preemption;
    Stall stall;
    std::atomic<bool> closing{false};         /* the agent is about to release: no submission may begin */
    std::atomic<std::uint32_t> changes{0};    /* futex: the agent changed something that submitters wait for */
    std::atomic<bool> unmeasured{false};      /* a submission under contention could not be measured */
    std::atomic<bool> waits_for_host{false};  /* work in flight may wait for the host: WATCH */
    std::atomic<bool> rest_unreported{false}; /* the agent looks now and then whether the program still submits */
    std::atomic<int> submitters_cpu{-1};      /* where the last thread to submit, or to wait for a turn, ran */
    std::atomic<std::uint64_t> last_submit_ns{0};
    std::atomic<std::uint64_t> first_submit_ns{0}; /* of this turn */
    /* There is a submission. Returns whether it is the first one of the turn. */
    bool turn_is_used(std::uint64_t now)
    {
        std::uint64_t none = 0;
        return first_submit_ns.compare_exchange_strong(none, now, std::memory_order_relaxed);
    }
    Linger linger;
    Above above;
    std::atomic<bool> alone_wanted{false};   /* lighter ones were to stay on the device, and no longer */
    std::atomic<bool> ahead{false};          /* a submission came before the question for its turn */
    std::atomic<std::uint32_t> held_back{0}; /* threads that wait with a submission */
    std::atomic<std::uint32_t> acquiring{0}; /* of these, the ones that wait for a turn, or have just got it */

    /*
     * Whether all that may be in flight after so many page events was measured or has an end event behind it; true,
     * too, where one more event led from a state in which everything is measured to another such state. In other
     * states it is so until the next submission.
     */
    bool all_measured(std::uint32_t events, std::uint32_t state);
    /* @submissions: the first so many. */
    void set_fenced(std::uint32_t events, std::uint32_t state, std::uint64_t submissions);
    /* The same, for a turn that begins with nothing in flight that was not measured. */
    void begin_measured();

    /* What to tell the scheduler since the last time. The first so many submissions have @ended; 0: not known. */
    ptsched_usage take_usage(std::uint64_t ended);
    bool report_due(std::uint64_t now, std::uint64_t interval_ns) const
    {
        return now - reported_ns_.load(std::memory_order_relaxed) >= interval_ns;
    }
    /* Whether lighter ones may stay on the device during a turn that is asked for now. */
    bool tolerates(std::uint64_t now) const
    {
        return preemption.time_slice() == TimeSlice::lasting && above.is_good_now(now) &&
               !alone_wanted.load(std::memory_order_relaxed);
    }
    /* GPU time of this turn that was told to the scheduler. */
    std::uint64_t take_turn_gpu_ns() { return turn_gpu_ns_.exchange(0, std::memory_order_relaxed); }
    /* Unless the last report is younger. */
    void report(std::uint64_t now, std::uint64_t interval_ns);
    /* Reports by the agent: the program has come to rest after so many submissions; it ends. */
    void report_rest(std::uint64_t submissions);
    void report_end(std::uint64_t now);

    void announce_change();
    void wait_for_change(std::uint32_t seen, std::uint64_t at_most_ns);

    /* The agent's own. */
    struct AgentState {
        Acknowledged acknowledged;
        std::uint64_t here_since{0}; /* first looked after in a turn */
        std::uint64_t idle_since{0};
        std::uint64_t busy_seen_ns{0};
        std::uint64_t backoff_ns{0};
        std::uint64_t submissions_seen{0};
        std::uint64_t rests_since{0}; /* when that was seen to change, or that something was in flight */
        std::uint64_t demanded_ns{0}; /* since when the work in flight is to leave at once */
        unsigned others_part{0};      /* while others have the turn, too: one in so many of what passes is theirs */
        bool told_drain{false};       /* the next turn begins without waiting for our release */
    } agent;

private:
    static const std::uint32_t open_state;

    bool open_word();

    const unsigned index_;
    CUdevice ordinal_;
    char address_[PTSCHED_NAME_LEN];
    char name_[PTSCHED_NAME_LEN];
    std::once_flag attached_;
    ptsched_client *client_{nullptr};
    const ptsched_page *page_{nullptr};
    bool shares_channels_{false};
    std::atomic<const std::uint32_t *> state_word_;
    std::atomic<bool> open_for_lost_context_{false};
    std::atomic<std::uint32_t> fenced_{~0u};     /* page events up to which unmeasured work has an end event */
    std::atomic<std::uint32_t> fenced_state_{0}; /* the state that was seen then */
    std::atomic<std::uint64_t> fenced_submissions_{0};
    std::atomic<std::uint64_t> submissions_{0};
    std::atomic<std::uint64_t> reported_submissions_{0};
    std::atomic<std::uint64_t> turn_gpu_ns_{0};
    std::atomic<std::uint64_t> reported_ns_{0};
    std::atomic<Device *> next_{nullptr};
};

/* In the order in which they were added. No lock is needed to go through them, nor memory. */
class Devices {
public:
    class Iterator {
    public:
        explicit Iterator(Device *device) : device_(device) {}
        Device *operator*() const { return device_; }
        Iterator &operator++()
        {
            device_ = device_->next();
            return *this;
        }
        bool operator==(const Iterator &) const = default;

    private:
        Device *device_;
    };

    explicit Devices(Device *first) : first_(first) {}
    Iterator begin() const { return Iterator(first_); }
    Iterator end() const { return Iterator(nullptr); }

private:
    Device *first_;
};

/* All that a process keeps; a forked child begins with a new one. */
class Process {
public:
    Devices devices() const { return Devices(first_device_.load(std::memory_order_acquire)); }
    Context *find_context(CUcontext handle);
    /* One that is alive on @device; NULL: none. */
    Context *any_context(const Device &device);
    /* NULL: the driver would not say to which device it belongs. */
    Context *find_or_add_context(CUcontext handle);

    /* Before the driver's call that makes one: the first needs memory that a program which has ended may still have. */
    void context_is_to_begin();
    /* @created: by cuCtxCreate() and the like, hence no primary context. */
    void context_begins(CUcontext handle, bool created);
    void stream_ends(CUstream handle);
    void thread_ends(const Thread &thread);
    /* Before and after the driver's call; the second gets what the first has returned. */
    Device *context_ends(CUcontext handle);
    void context_ended(CUcontext handle, Device *device, bool gone);
    Device *primary_context_ends(CUdevice ordinal);
    void primary_context_ended(CUdevice ordinal, Device *device);

    /* Whether a default stream handle can mean several streams. */
    bool several_contexts() const { return several_contexts_.load(std::memory_order_relaxed); }

    std::uint64_t submissions();

    /* Its clients are to be closed in the child, outside of fork(). */
    void inherit(const Process *parent) { parent_ = parent; }
    void close_inherited();

private:
    void note_context(CUcontext handle, bool created);
    Device *find_or_add_device(CUdevice ordinal);

    std::atomic<bool> freed_{false}; /* ended programs' memory has been waited for */
    std::mutex lock_;
    std::atomic<Device *> first_device_{nullptr};
    Device *last_device_{nullptr};
    const Process *parent_{nullptr};
    std::vector<Context *> contexts_;
    std::vector<CUcontext> created_;
    std::atomic<bool> several_contexts_{false};
};

extern Process *process;

/* Set at exit: no more waiting, no more measuring. */
extern std::atomic<bool> exiting;

/* Has exit() tell the scheduler and the user what was used. */
void register_exit_handler();

} // namespace ptsched::preload

#endif
