/* SPDX-License-Identifier: MIT */
/*
 * What a device's GPU time is spent on: timing events around submissions, and what of the work is still in flight.
 *
 * GPU time is the union of the intervals in which work executes, per context, since events of two contexts cannot be
 * compared. While the program is alone only a sample of its submissions is timed, each standing for those before it.
 *
 * Nothing here synchronises. Calls into the driver may be made with the lock held: the driver never waits for us.
 */
#ifndef PTSCHED_PRELOAD_METER_METER_HPP
#define PTSCHED_PRELOAD_METER_METER_HPP

#include "libptsched/preload/common/mutex.hpp"
#include "libptsched/preload/meter/estimate.hpp"
#include "libptsched/preload/meter/event_times.hpp"
#include "libptsched/preload/meter/occupancy.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

namespace ptsched::preload {

class Device;
struct Thread;

/*
 * One submission with events around it; or, where what it takes is well known, with a plain one behind it, which tells
 * that it has completed and costs the GPU nothing (a timing event takes 1 to 1.6 us of it on an H200).
 */
struct Record {
    CUevent start;
    CUevent end;
    CUevent plain;
    bool timed;
    Key key;
    double fills; /* of the device: see Occupancy */
    std::uint64_t estimate_ns;
    std::uint64_t pending_ns;      /* the same, or what all that it stands for take together */
    std::uint64_t submitted_ns;    /* host time, as the next two */
    std::uint64_t begins_ns;       /* not before this: moved on by the time it was off */
    std::uint64_t others_until_ns; /* until then other programs' work may be on the device, too */
    std::uint64_t charged_ns;      /* when it was taken off, so much of it was */
    std::uint64_t suspected_ns;    /* when something was let through that it may wait for; 0: nothing was */
    std::uint32_t stands_for;      /* submissions, if it is a sample; 0: it stands for itself among others */
    bool waits;                    /* its like was found to wait for the host or for what is submitted later */
    Record *next;
};

struct Context {
    enum State { alive, ending, ended };

    CUcontext handle;
    Device *device;
    std::atomic<State> state{alive}; /* written with the meter's lock held, read by anybody */
    bool primary;
    std::atomic<Context *> next{nullptr}; /* on the device; written once */
    Record *free_records{nullptr};
    std::size_t records{0};
    /* Times of events are counted from this one. */
    CUevent base{nullptr};
    bool has_base{false};
    EventClock clock{};
    std::uint64_t base_absences_ns{0}; /* until then */
    /*
     * Of these without the time in which the channels were off: the end of the last sample, and all that was charged.
     */
    bool has_sample{false};
    double sampled_ms{0};
    IntervalUnion busy{};
    /* Its events are recorded around nothing, some times; the least that they saw is what events themselves take. */
    Record *gauge{nullptr};
    bool gauging{false};
    unsigned gauged{0};
    std::uint64_t event_ns{0};
};

struct Stream {
    CUstream handle;
    Context *context;
    const Thread *owner; /* of a per-thread default stream, which other threads cannot name */
    bool ended{false};
    Record *first{nullptr};
    Record *last{nullptr};
    std::uint64_t pending_ns{0}; /* that of the records */
    std::uint64_t completed_ns{0};
    std::uint64_t seen_running_ns{0}; /* then, the first had not completed */
    bool tail{false};                 /* work without an event of its own came after the records and the fence */
    std::uint64_t tail_ns{0};         /* its estimates */
    std::uint64_t tail_until{0};      /* when it will have ended, by these; host time */
    /* An end event; of the legacy stream, on which it would make other streams wait, that its work is asked for. */
    CUevent fence{nullptr};
    bool fence_pending{false};
    bool fence_unknown{false}; /* also behind work of which nothing is known */
    bool fence_waited{false};  /* it had not been reached when somebody looked */
    bool fence_again{false};   /* once it has been reached, for what may have come behind it */

    /* The earliest that @first_one can have begun; host time. */
    std::uint64_t began_ns(const Record &first_one) const { return std::max(first_one.begins_ns, completed_ns); }
};

class Meter {
public:
    Stream *find_stream(Context *context, CUstream handle, const Thread *owner);

    /* Has what the first submission in it is measured with. The caller's own-call scopes are in place. */
    void get_ready(Context &context);

    /*
     * Records the start of a submission; NULL: it cannot be measured. @busy_until: other programs' work may be on the
     * device until then. @wakes: it is the first in its turn. The caller's own-call scopes are in place.
     */
    Record *begin(Stream &stream, const Key &key, std::uint32_t stands_for, std::uint64_t now, std::uint64_t busy_until,
                  bool wakes);
    /* Records its end and counts it in flight; @submitted: whether the driver took it. */
    void end(Stream &stream, Record *record, bool submitted);

    /*
     * Instead of these, for one that is short and well known: how long it will take, in ns; 0: it must be measured. Its
     * events would cost a program of many short kernels more than all else. If the driver took it, it is then counted.
     */
    std::uint64_t short_ns(const Stream &stream, const Key &key);
    void count(Stream &stream, std::uint64_t ns, std::uint64_t now);

    /* Takes in what has completed. */
    void reap(std::uint64_t now);

    /*
     * Between these the device's channels are off the hardware: no time passes for what is in flight. That may be about
     * to begin. The driver is not asked, since it may not answer before a thread that has lost its CPU.
     */
    void pause(std::uint64_t now);
    void resume(std::uint64_t now);

    /*
     * From @ns on, or earlier, the work in flight shares the device with others', of which one in @part is theirs by
     * guess, until they leave it, which they have at the end of a turn, or it is off the hardware.
     */
    void others_come(std::uint64_t ns, unsigned part);
    void others_leave(std::uint64_t now);

    /* An end event on every stream that other threads can name, for work that was not measured. (See Stream::fence.) */
    void fence_streams();
    /* The same behind counted work that should have ended. Call reap() before. */
    void fence_tails(std::uint64_t now);

    /*
     * Estimated time until the work in flight has completed; 0: there is none. What has completed since the last reap()
     * is in flight as far as the estimates say so.
     */
    std::uint64_t in_flight_ns(std::uint64_t now);
    bool idle();
    /* Whether there is an end event for work of which nothing is known. */
    bool unknown_in_flight();
    /* With the others that it stands for. */
    std::uint64_t estimate_ns(const Key &key, std::uint32_t stands_for);

    /*
     * Whether nothing is known of the end of some of so many submissions, since no sample stands for them yet; it is
     * then asked for, once, on every stream that other threads can name: idle() says when it has come.
     */
    bool asks_for_end(std::uint64_t submissions);
    /*
     * Since the last call. The first so many submissions have @ended, if that is known, else 0: those of them that no
     * sample stands for yet count as much as the mean of those sampled, or what their end has been waited for.
     */
    std::uint64_t take_gpu_ns(std::uint64_t ended);

    /*
     * For whoever holds submissions back until others have completed: how many have, and what is known of the longest
     * of those that come next (see Stall). What is let through all the same is suspected to be what they wait for.
     */
    struct Progress {
        std::uint64_t completed, expected_ns;
    };
    Progress progress();
    void suspect(std::uint64_t now);
    /* Whether something in flight waits for what the program is still to do, by what is known of its like. */
    bool waits_for_program(std::uint64_t now);

    /* From now on what is charged is weighed by the part of the device that it fills. */
    void weigh(CUdevice ordinal);
    /* That part, of late; 1 where it is not weighed, or not known yet. */
    double occupancy();

    /* How many submissions take about @ns of the device, by the last samples; 0: none of them has completed yet. */
    std::uint64_t submissions_in(std::uint64_t ns);
    /* The next ones say nothing about what was before. */
    void forget_samples();

    void stream_ends(CUstream handle);
    /* Its per-thread default streams: another thread may get its block. */
    void thread_ends(const Thread &thread);
    void context_ends(Context &context);
    void context_ended(Context &context, bool gone);

    /* A driver error after which nothing can be measured any more, until its context has ended; 0: there was none. */
    CUresult error() const { return error_.load(std::memory_order_relaxed); }
    bool broken() const { return error() != CUDA_SUCCESS; }
    void forget_error() { error_.store(CUDA_SUCCESS, std::memory_order_relaxed); }

private:
    /* In meter.cpp. */
    bool check(CUresult result);
    bool make_events(Record &record);
    bool add_records(Context &context) PTSCHED_REQUIRES(lock_);
    Record *take_record(Context &context) PTSCHED_REQUIRES(lock_);
    bool must_time(const Stream &stream, bool known, std::uint64_t one_in) PTSCHED_REQUIRES(lock_);
    void give_back(Context &context, Record *record) PTSCHED_REQUIRES(lock_);
    void drop(Stream &stream) PTSCHED_REQUIRES(lock_);

    /* Without the lock: what it takes was set before the first submission. */
    double fills(const Key &key) const PTSCHED_NO_THREAD_SAFETY_ANALYSIS { return occupancy_.of(key); }

    /* In charging.cpp. */
    void begin_gauge(Stream &stream) PTSCHED_REQUIRES(lock_);
    void end_gauge(Context &context) PTSCHED_REQUIRES(lock_);
    std::uint64_t by_samples_ns(std::uint64_t submissions) const PTSCHED_REQUIRES(lock_);
    std::uint64_t not_stood_for(std::uint64_t submissions) const PTSCHED_REQUIRES(lock_);
    void account(Stream &stream, Record &record, std::uint64_t now) PTSCHED_REQUIRES(lock_);
    void learn(const Record &record, std::uint64_t ran_ns) PTSCHED_REQUIRES(lock_);
    void learn_wait(const Stream &stream, const Record &record, std::uint64_t now) PTSCHED_REQUIRES(lock_);
    void charge_untimed(Stream &stream, const Record &record) PTSCHED_REQUIRES(lock_);
    bool keep_event(CUevent &kept, CUevent &event);
    bool find_times(Context &context, Record &record, std::uint64_t now, double &begin_ms, double &end_ms)
        PTSCHED_REQUIRES(lock_);
    double present_ms(const Context &context, double ms) const PTSCHED_REQUIRES(lock_);
    void renew_base(Context &context, Record &record, double ms) PTSCHED_REQUIRES(lock_);
    std::uint64_t ran_ns(const Context &context, const Record &record, double begin_ms, double end_ms)
        PTSCHED_REQUIRES(lock_);
    void charge_sample(Context &context, Record &record, std::uint64_t ran_ns, double end_ms) PTSCHED_REQUIRES(lock_);
    void charge_interval(Context &context, Record &record, std::uint64_t ran_ns, double end_ms) PTSCHED_REQUIRES(lock_);
    std::uint64_t in_company_ns(std::uint64_t began, std::uint64_t ended) const PTSCHED_REQUIRES(lock_);
    void end_company(std::uint64_t now) PTSCHED_REQUIRES(lock_);
    void charge_running(Stream &stream, Record &record, std::uint64_t now) PTSCHED_REQUIRES(lock_);

    /* In fences.cpp. */
    void fence(Stream &stream, bool unknown) PTSCHED_REQUIRES(lock_);
    void fence_in_time(Stream &stream) PTSCHED_REQUIRES(lock_);
    void fence_all() PTSCHED_REQUIRES(lock_);
    CUresult ask_fence(const Stream &stream) PTSCHED_REQUIRES(lock_);
    bool find_fence_ms(const Stream &stream, std::uint64_t now, double &ms) PTSCHED_REQUIRES(lock_);
    void reap_fence(Stream &stream, std::uint64_t now) PTSCHED_REQUIRES(lock_);

    PriorityInheritanceMutex lock_;
    /* Entries are used again, never freed: threads keep pointers. */
    std::vector<Stream *> streams_ PTSCHED_GUARDED_BY(lock_);
    Estimates estimates_ PTSCHED_GUARDED_BY(lock_);
    Occupancy occupancy_ PTSCHED_GUARDED_BY(lock_);
    std::uint64_t gpu_ns_ PTSCHED_GUARDED_BY(lock_) = 0;
    std::uint64_t sampled_ns_ PTSCHED_GUARDED_BY(lock_) = 0;
    /* Of submissions: how long they ran, of that with nothing else beside, ms. */
    double mean_ran_ PTSCHED_GUARDED_BY(lock_) = 0, mean_added_ PTSCHED_GUARDED_BY(lock_) = 0;
    Periods absences_ PTSCHED_GUARDED_BY(lock_); /* with the channels off the hardware */
    Periods company_ PTSCHED_GUARDED_BY(lock_);  /* with others' work there as well, but for the last one: */
    std::uint64_t company_from_ns_ PTSCHED_GUARDED_BY(lock_) = ~0ull;
    unsigned others_part_ PTSCHED_GUARDED_BY(lock_) = 2;
    std::uint64_t paused_since_ PTSCHED_GUARDED_BY(lock_) = 0;
    std::uint64_t random_ PTSCHED_GUARDED_BY(lock_) = 88172645463325252;
    /* Of the last samples, fading: what was charged for how many submissions. */
    double samples_ns_ PTSCHED_GUARDED_BY(lock_) = 0, samples_for_ PTSCHED_GUARDED_BY(lock_) = 0;
    std::uint64_t completed_ PTSCHED_GUARDED_BY(lock_) = 0; /* records whose work has ended, over all time */
    /* Submissions that are in gpu_ns_ or sampled_ns_, over all time. */
    std::uint64_t counted_ PTSCHED_GUARDED_BY(lock_) = 0;
    /* Of these, counted before the sample that stands for them. */
    std::uint64_t ahead_ PTSCHED_GUARDED_BY(lock_) = 0;
    /* Not of these yet: what records that have begun stand for. */
    std::uint64_t under_way_ PTSCHED_GUARDED_BY(lock_) = 0;
    std::uint64_t end_asked_for_ PTSCHED_GUARDED_BY(lock_) = 0; /* submissions: see asks_for_end() */
    /* From the last sample's end to that one, if it had to be waited for. */
    std::uint64_t waited_ns_ PTSCHED_GUARDED_BY(lock_) = 0;
    std::atomic<CUresult> error_{CUDA_SUCCESS};
};

} // namespace ptsched::preload

#endif
