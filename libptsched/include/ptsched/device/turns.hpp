/* SPDX-License-Identifier: MIT */
/*
 * A device shared with other processes, by turns that ptsched gives out: a program has work there in its turns only. A
 * thread waits for them, and gives each back when nothing is on the device and somebody else wants it.
 *
 *	auto turns = Turns::open(gpu, Attach::if_possible, {.recalled = [&] { pool.park(); }});
 *	if (turns)
 *		turns->wait_to_begin();
 *	...
 *	if (turns)
 *		turns->ended();
 */
#ifndef PTSCHED_DEVICE_TURNS_HPP
#define PTSCHED_DEVICE_TURNS_HPP

#include <ptsched/device/device.hpp>
#include <ptsched/device/requester.hpp>

#include <chrono>

namespace ptsched::device {

class Attachment;

} // namespace ptsched::device

#pragma GCC visibility push(default)

namespace ptsched::device {

/* Whether work is scheduled by ptsched, beside that of other processes. */
enum class Attach {
    no,
    if_possible, /* where there is a scheduler that knows the device */
    required,    /* Error where there is none */
};

/* What a program is told of its turns, and asked. */
struct TurnCalls {
    /*
     * Both are called by a thread of this, without a lock, must not wait for it, and may be empty. When begin() may
     * say yes after it has said no.
     */
    std::function<void()> may_begin = {};
    /*
     * Once in a turn, when somebody else is to have it and there is work on the device: what has no end of its own
     * is to be ended. Nothing may be begun any more, and the next turn comes after the last ended().
     */
    std::function<void()> recalled = {};
    /* For what is said to people: "device: the program goes on unscheduled". */
    std::string user = "program", library = "device";
};

/*
 * What work that stays on the device, whether it has something to do or not, has done so far. It counts as using the
 * device while it is busy and, while others use the device, all the time that it is there.
 */
struct Activity {
    std::uint64_t busy_ns = 0; /* time with something to do */
    std::uint64_t pieces = 0;  /* of work that it was given */
};

/* Thread-safe. Work on the device is counted, so that several pieces of it are there in one turn. */
class Turns {
public:
    using Calls = TurnCalls;
    /*
     * Null if the device is not to be shared so, or there is no scheduler or it does not know the device, which is
     * logged once (log.hpp); throws Error if it must be.
     */
    static std::unique_ptr<Turns> open(Device &device, Attach how, Calls calls = {});
    /*
     * The same for work that stays, which asks @activity what is used instead of being told by measured(). Its numbers
     * fall by no more than an instant, which counts as nothing. It is called by a thread of this, which holds a lock:
     * it must not block, nor call this.
     */
    static std::unique_ptr<Turns> open(Device &device, Attach how, Calls calls, std::function<Activity()> activity);
    /* quit(), but where work is on the device still: that keeps the turn no longer. */
    ~Turns();
    Turns(const Turns &) = delete;
    Turns &operator=(const Turns &) = delete;

    /* Whether the device may be given work now, which is there until ended(). Does not block. */
    bool begin();
    /* The same, for which it waits; false if that takes longer. Where the scheduler is gone, nobody waits. */
    bool wait_to_begin(std::chrono::nanoseconds most = std::chrono::nanoseconds::max());
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
    /* Gives the turn back for good: no work is on the device, and none comes. */
    void quit();

private:
    explicit Turns(std::unique_ptr<Attachment> attachment);

    const std::unique_ptr<Attachment> attachment_;
};

/*
 * Under the interposer (libptsched-preload.so), what the calling thread submits meanwhile is not gated once more: it
 * has a turn of its own.
 */
class Exempt {
public:
    explicit Exempt(bool yes = true) : before_(!yes || set(1)) {}
    ~Exempt()
    {
        if (!before_)
            set(0);
    }
    Exempt(const Exempt &) = delete;
    Exempt &operator=(const Exempt &) = delete;

private:
    /* Returns what was; true, too, if there is nobody to be exempt from. */
    static bool set(int yes);

    const bool before_;
};

} // namespace ptsched::device

#pragma GCC visibility pop

#endif /* PTSCHED_DEVICE_TURNS_HPP */
