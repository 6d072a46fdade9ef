/* SPDX-License-Identifier: MIT */
/*
 * The helper: takes processes' channels off the devices, and puts them back, on
 * duplicates of their own control files. It does so when the process asks, and by
 * itself where a process was told to leave a device at once and did nothing.
 */
#ifndef PTSCHEDD_SWITCHBOARD_HPP
#define PTSCHEDD_SWITCHBOARD_HPP

#include "kmod/policy/policy.h"
#include "tools/ptschedd/event_loop.hpp"
#include "tools/ptschedd/file_closer.hpp"
#include "tools/ptschedd/process.hpp"
#include "tools/ptschedd/switch_thread.hpp"
#include <ptsched/base/fd.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace ptsched {

/* The channels of one process on one device. */
class Switch : public std::enable_shared_from_this<Switch> {
public:
    /* Told the result, 0 or a negative errno, once what was asked for has been done. */
    using Answer = std::function<void(int result)>;

    explicit Switch(SwitchThread &thread) : thread_(thread) {}

    /* Those of one of the driver's clients on one of its subdevices; none: it has gone. */
    using Key = std::pair<std::uint32_t, std::uint32_t>;
    void set_channels(Key key, ChannelSet channels);
    bool has_channels() const { return !sets_.empty(); }

    void ask(bool off, std::uint64_t turn, Answer answer);

    /* What the scheduler tells: this turn was to leave the device at once; it has ended. */
    void demanded(std::uint64_t turn, std::uint64_t now);
    void released(std::uint64_t turn);
    /* What the helper did by itself is put back: it may have ended since. */
    void forgive();

    /* When it would act by itself; then, what it is to do, and when the next time. */
    std::uint64_t due_ns() const { return due_ns_; }
    void act(bool off, std::uint64_t again_ns);
    /* Whether it is off without the process's doing. */
    bool is_own_off() const { return own_off_; }

    /*
     * Nobody will ask any more. All is put back, if the process lives, which then switches for itself; its files are
     * closed.
     */
    void end(bool alive);

private:
    struct Known {
        ChannelSet set;
        std::vector<std::uint32_t> off; /* of these; each was taken off once, since the driver counts */
    };
    using Given = std::vector<std::pair<Key, std::vector<std::uint32_t>>>;

    bool wants_off() const { return asked_off_ || own_off_; }
    void settle(std::uint64_t turn);
    static std::vector<std::uint32_t> to_switch(const Known &known, bool off);
    void start();
    void done(bool off, const Given &given, int result);
    void answer(int result);

    SwitchThread &thread_;
    std::map<Key, Known> sets_;
    bool asked_off_ = false; /* by the process */
    bool own_off_ = false;   /* by the helper itself */
    bool working_ = false;
    std::uint64_t settled_turn_ = 0;
    std::uint64_t demanded_turn_ = 0;
    std::uint64_t due_ns_ = PTSP_NEVER;
    std::vector<Answer> answers_;
};

/* All of them. Turns are those of whichever scheduler the processes attached to. */
class Switchboard {
public:
    explicit Switchboard(EventLoop &loop) : closer_(loop), thread_(loop) {}

    /* What one process has told: its switches by PCI address. */
    class Owner {
    public:
        Owner(Switchboard &board, ProcessRef process);
        ~Owner();
        Owner(const Owner &) = delete;
        Owner &operator=(const Owner &) = delete;

        /* 0 or a negative errno, as in broker_protocol.h. @file is the process's control file. */
        int set_channels(UniqueFd file, std::uint32_t client, std::uint32_t subdevice,
                         std::span<const std::uint32_t> channels);
        int ask(const std::string &address, std::uint32_t device_id, bool off, std::uint64_t turn,
                Switch::Answer answer);

    private:
        friend class Switchboard;
        struct Place {
            std::shared_ptr<Switch> channels;
            std::int64_t device_id = -1; /* the scheduler's; not known yet */
        };

        Switchboard &board_;
        ProcessRef process_;
        std::map<std::string, Place> places_;
        std::map<Switch::Key, std::string> addresses_;
    };

    /* PTSCHED_EVENT_PREEMPT or RELEASE of a scheduler. */
    void event(std::uint32_t kind, pid_t pid, std::uint32_t device_id, std::uint64_t turn);

    /* Whether a file of a process that has ended is still open here, so that the driver keeps what it had. */
    bool has_files_of_the_dead() const;

    void lost_events();
    void stay_off(int cpu) { thread_.stay_off(cpu); }

    /* When run() is to be called, at the latest. */
    std::uint64_t next_ns() const { return next_ns_; }
    void run(std::uint64_t now);

private:
    static void act(const Process &process, const std::string &address, Switch &channels, std::uint64_t now);

    FileCloser closer_; /* it must outlive who has files */
    SwitchThread thread_;
    std::uint64_t next_ns_ = PTSP_NEVER;
    std::multimap<pid_t, Owner *> owners_;
};

} // namespace ptsched

#endif
