/* SPDX-License-Identifier: MIT */
/* What is behind turns.hpp: a client of ptsched, and the thread that waits for turns and gives them back. */
#ifndef PTSCHED_DEVICE_ATTACHMENT_HPP
#define PTSCHED_DEVICE_ATTACHMENT_HPP

#include "libptsched/base/doorbell.hpp"
#include "libptsched/base/lock.hpp"
#include "libptsched/client/acknowledged.hpp"
#include "libptsched/device/presence.hpp"
#include <ptsched/base/chrono_clock.hpp>
#include <ptsched/device/turns.hpp>

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

struct ptsched_client;
struct ptsched_page;
struct ptsched_usage;

namespace ptsched::device {

class Attachment {
public:
    static std::unique_ptr<Attachment> open(Device &device, Attach how, Turns::Calls calls,
                                            std::function<Activity()> activity);
    /* The client is this one's, and attached to @device. */
    Attachment(std::string device, ptsched_client *client, Turns::Calls calls, std::function<Activity()> activity);
    ~Attachment();
    Attachment(const Attachment &) = delete;
    Attachment &operator=(const Attachment &) = delete;

    /* As Turns has them. */
    bool begin();
    bool begin_until(const Clock::time_point *time);
    void begin_more();
    void ended(bool submitted);
    bool has_room(double seconds) const;
    bool wants_measure();
    void measured(double seconds);
    void act_for(RequesterPtr requester);
    void quit();

private:
    bool try_to_begin() PTSCHED_REQUIRES(mutex_);
    void work();
    void may_begin(Lock &lock) PTSCHED_REQUIRES(mutex_);
    bool recall(Lock &lock) PTSCHED_REQUIRES(mutex_);
    void take_turn(Lock &lock) PTSCHED_REQUIRES(mutex_);
    std::uint64_t look_after_turn(Lock &lock) PTSCHED_REQUIRES(mutex_);
    bool is_anothers() const PTSCHED_REQUIRES(mutex_);
    bool may_use_turn() const PTSCHED_REQUIRES(mutex_);
    bool is_due_back(std::uint32_t state, std::uint64_t now, std::uint64_t &again_ns) const PTSCHED_REQUIRES(mutex_);
    void give_back(Lock &lock, std::uint64_t now) PTSCHED_REQUIRES(mutex_);
    void take_requester(Lock &lock) PTSCHED_REQUIRES(mutex_);
    void open_gate(Lock &lock, const char *why) PTSCHED_REQUIRES(mutex_);
    void wake();
    void sleep(bool watch, std::uint64_t at_most_ns);
    void count_busy(std::uint64_t now) PTSCHED_REQUIRES(mutex_);
    void count_stay(std::uint32_t state, std::uint64_t now) PTSCHED_REQUIRES(mutex_);
    ptsched_usage take_usage(std::uint64_t now) PTSCHED_REQUIRES(mutex_);

    const std::string device_;
    ptsched_client *const client_;
    const ptsched_page *const page_;
    const Turns::Calls calls_;
    const std::function<Activity()> activity_; /* empty: measured() tells */
    Doorbell bell_;

    Mutex mutex_;
    std::condition_variable granted_or_open_;
    bool stopping_ PTSCHED_GUARDED_BY(mutex_) = false;
    bool open_ PTSCHED_GUARDED_BY(mutex_) = false;   /* the scheduler is gone: no more turns */
    bool wanted_ PTSCHED_GUARDED_BY(mutex_) = false; /* somebody was told no */
    bool granted_ PTSCHED_GUARDED_BY(mutex_) = false, used_ PTSCHED_GUARDED_BY(mutex_) = false;
    bool recalled_ PTSCHED_GUARDED_BY(mutex_) = false; /* somebody was told so in this turn */
    bool resting_ PTSCHED_GUARDED_BY(mutex_) = false;  /* the thread looks at nothing until it is woken */
    unsigned in_flight_ PTSCHED_GUARDED_BY(mutex_) = 0;
    RequesterPtr requester_ PTSCHED_GUARDED_BY(mutex_); /* who has asked last, and whose the turn is */
    RequesterPtr served_ PTSCHED_GUARDED_BY(mutex_);
    std::shared_ptr<Presence> presence_ PTSCHED_GUARDED_BY(mutex_); /* of who is served */
    std::uint64_t wanted_since_ns_ PTSCHED_GUARDED_BY(mutex_) = 0;
    std::uint64_t granted_ns_ PTSCHED_GUARDED_BY(mutex_) = 0, first_ns_ PTSCHED_GUARDED_BY(mutex_) = 0,
                              last_end_ns_ PTSCHED_GUARDED_BY(mutex_) = 0;
    /* Not reported yet: time with work in flight, measured time, runs. */
    std::uint64_t busy_since_ns_ PTSCHED_GUARDED_BY(mutex_) = 0, busy_ns_ PTSCHED_GUARDED_BY(mutex_) = 0,
                                 reported_ns_ PTSCHED_GUARDED_BY(mutex_) = 0;
    double measured_seconds_ PTSCHED_GUARDED_BY(mutex_) = 0;
    std::uint32_t submissions_ PTSCHED_GUARDED_BY(mutex_) = 0;
    /* Of work that stays: what of it is counted, whether others were there then, and its use, not reported yet. */
    Activity counted_ PTSCHED_GUARDED_BY(mutex_);
    bool had_company_ PTSCHED_GUARDED_BY(mutex_) = false;
    std::uint64_t stay_ns_ PTSCHED_GUARDED_BY(mutex_) = 0;
    /* Of the runs, one now and then is measured. */
    std::uint64_t measure_ns_ PTSCHED_GUARDED_BY(mutex_) = 0;
    double mean_seconds_ PTSCHED_GUARDED_BY(mutex_) = 0;
    Acknowledged acknowledged_; /* the thread's own */

    std::thread thread_;
};

} // namespace ptsched::device

#endif /* PTSCHED_DEVICE_ATTACHMENT_HPP */
