/* SPDX-License-Identifier: MIT */
/*
 * A graph on a device as a client of ptsched: it has work there in its turns only, which a thread of its own waits for
 * and gives back. The graph's thread never waits here: it is told no, and called when there is a turn.
 */
#ifndef PTSCHED_PTASK_DEVICES_ATTACHMENT_HPP
#define PTSCHED_PTASK_DEVICES_ATTACHMENT_HPP

#include "libptsched/base/doorbell.hpp"
#include "libptsched/client/acknowledged.hpp"
#include "libptsched/ptask/devices/requester.hpp"
#include <ptsched/ptask/options.hpp>

#include <functional>
#include <mutex>
#include <string>
#include <thread>

struct ptsched_client;
struct ptsched_page;
struct ptsched_usage;

namespace ptsched::ptask {

class Attachment {
public:
    /*
     * Of the device at @address on the PCI bus. @may_begin is called, without a lock, when begin() may say yes after it
     * has said no. Null if there is no scheduler or it does not know the device, which is logged once; throws
     * Error if it must be.
     */
    static std::unique_ptr<Attachment> open(const std::string &device, const std::string &address, Attach how,
                                            std::function<void()> may_begin);
    Attachment(ptsched_client *client, std::function<void()> may_begin);
    ~Attachment();
    Attachment(const Attachment &) = delete;
    Attachment &operator=(const Attachment &) = delete;

    /* Whether the device may be given work now, which is there until ended(). */
    bool begin();
    /* There is more, which goes with what is there already. */
    void begin_more();
    /* @submitted: it was given to the device, and is not just let go. */
    void ended(bool submitted = true);
    /* Whether work of @seconds may come to what is there, others considered. */
    bool has_room(double seconds) const;
    /* Whether the next work is to be measured, and what came of it. */
    bool wants_measure();
    void measured(double seconds);
    /* From the next turn on. Where nobody else waits for that, it comes after requester_ns of this one. */
    void act_for(RequesterPtr requester);
    /* However often requesters replace one another, the turn is one's for so long. */
    static constexpr std::uint64_t requester_ns = 20000000;
    /* Gives the turn back for good: no work of the graph is on the device, and none comes. */
    void quit();

private:
    using Lock = std::unique_lock<std::mutex>;

    void work();
    void take_turn(Lock &lock);
    std::uint64_t look_after_turn(Lock &lock);
    bool is_anothers() const;
    bool may_use_turn() const;
    bool is_due_back(std::uint32_t state, std::uint64_t now, std::uint64_t &again_ns) const;
    void give_back(Lock &lock, std::uint64_t now);
    void take_requester(Lock &lock);
    void open_gate(Lock &lock, const char *why);
    void wake();
    void sleep(bool watch, std::uint64_t at_most_ns);
    ptsched_usage take_usage(std::uint64_t now);

    ptsched_client *const client_;
    const ptsched_page *const page_;
    const std::function<void()> may_begin_;
    Doorbell bell_;

    std::mutex mutex_; /* protects what follows */
    bool stopping_ = false;
    bool open_ = false;   /* the scheduler is gone: no more turns */
    bool wanted_ = false; /* somebody was told no */
    bool granted_ = false, used_ = false;
    bool resting_ = false; /* the thread looks at nothing until it is woken */
    unsigned in_flight_ = 0;
    RequesterPtr requester_; /* who has asked last, and whose the turn is */
    RequesterPtr served_;
    std::uint64_t granted_ns_ = 0, first_ns_ = 0, last_end_ns_ = 0;
    /* Not reported yet: time with work in flight, measured time, runs. */
    std::uint64_t busy_since_ns_ = 0, busy_ns_ = 0, reported_ns_ = 0;
    double measured_seconds_ = 0;
    std::uint32_t submissions_ = 0;
    /* Of the runs, one now and then is measured. */
    std::uint64_t measure_ns_ = 0;
    double mean_seconds_ = 0;
    Acknowledged acknowledged_; /* the thread's own */

    std::thread thread_;
};

} // namespace ptsched::ptask

#endif /* PTSCHED_PTASK_DEVICES_ATTACHMENT_HPP */
