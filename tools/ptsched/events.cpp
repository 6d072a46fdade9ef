// SPDX-License-Identifier: MIT
/* ptsched events: what the scheduler does, as it happens. */
#include "commands.hpp"
#include "format.hpp"
#include "json.hpp"
#include "stop_signals.hpp"
#include "units.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <map>
#include <poll.h>

namespace ptsched {

namespace {

std::string format_instant(uint64_t ns)
{
    char text[40];
    std::snprintf(text, sizeof(text), "%llu.%06llu", static_cast<unsigned long long>(ns / 1000000000),
                  static_cast<unsigned long long>(ns % 1000000000 / 1000));
    return text;
}

void print_line(const std::string &time, const std::string &device, const std::string &event, const std::string &pid,
                const std::string &turn, const std::string &budget, const std::string &comm)
{
    std::printf("%16s  %-12s  %-8s  %7s  %8s  %8s  %s\n", time.c_str(), device.c_str(), event.c_str(), pid.c_str(),
                turn.c_str(), budget.c_str(), comm.c_str());
}

void print_event(const Event &event, const std::string &pci, bool json)
{
    if (json) {
        Json line = {
            {"event", event_name(event.event)},
            {"time_ns", event.time_ns},
            {"device_id", event.device_id},
            {"device", pci},
        };
        if (event.pid) {
            line["pid"] = *event.pid;
            line["comm"] = event.comm;
            line["budget_ns"] = event.budget_ns;
            line["turn"] = event.turn;
        }
        std::puts(dump_json(line).c_str());
    } else if (event.pid) {
        print_line(format_instant(event.time_ns), pci, event_name(event.event), std::to_string(*event.pid),
                   std::to_string(event.turn), format_rounded(event.budget_ns), printable(event.comm));
    } else {
        print_line(format_instant(event.time_ns), pci, event_name(event.event), "-", "-", "-", "-");
    }
}

void flush()
{
    if (std::fflush(stdout))
        throw Error(std::string("cannot write to standard output: ") + strerror(errno));
}

/* Says that from now on nothing is missed. */
void print_start(const Scheduler &scheduler, bool json)
{
    if (json)
        std::puts(
            dump_json({{"event", "subscribed"}, {"scheduler", scheduler.kind()}, {"path", scheduler.path()}}).c_str());
    else
        print_line("TIME", "DEVICE", "EVENT", "PID", "TURN", "BUDGET", "COMMAND");
    flush();
}

/* Events that were not delivered, in the stream where they are missing. */
void print_lost(bool json)
{
    if (json)
        std::puts(dump_json({{"event", "lost"}}).c_str());
    std::cerr << "ptsched: events were lost here, because they came faster than they were read\n";
}

class Stream {
public:
    Stream(Scheduler &scheduler, const EventsOptions &options, int64_t count)
        : scheduler_(scheduler), json_(options.json), left_(count)
    {
        std::vector<Device> devices = scheduler.devices();
        for (const Device &device : devices)
            names_[device.id] = device.pci;
        if (!options.device.empty())
            only_ = find_device(devices, options.device).id;
    }

    /* Until @stop is readable or enough has been shown. */
    void run(int stop)
    {
        int events = scheduler_.subscribe();

        print_start(scheduler_, json_);
        while (left_ != 0) {
            pollfd fds[2] = {{.fd = events, .events = POLLIN, .revents = 0},
                             {.fd = stop, .events = POLLIN, .revents = 0}};
            if (poll(fds, 2, -1) < 0 && errno != EINTR)
                throw Error(std::string("poll: ") + strerror(errno));
            if (fds[1].revents)
                return;
            show();
        }
    }

private:
    Scheduler &scheduler_;
    bool json_;
    std::map<uint32_t, std::string> names_;
    std::optional<uint32_t> only_;
    int64_t left_; /* negative: no end */

    void show()
    {
        for (const Event &event : scheduler_.read_events()) {
            if (left_ == 0)
                break;
            if (event.event == PTSCHED_EVENT_LOST) {
                print_lost(json_);
                continue;
            }
            if (only_ && event.device_id != *only_)
                continue;
            print_event(event, name(event.device_id), json_);
            if (left_ > 0)
                left_--;
        }
        flush();
    }

    /* A device may have come since the start. */
    const std::string &name(uint32_t id)
    {
        if (!names_.contains(id))
            for (const Device &device : scheduler_.devices())
                names_[device.id] = device.pci;
        return names_[id];
    }
};

} // namespace

int events(const EventsOptions &options)
{
    /* What is wrong with the words is said before anything is done. */
    int64_t count = options.count.empty() ? -1 : parse_integer("count", options.count, 1, INT64_MAX);
    StopSignals stop;
    auto scheduler = open_scheduler(options.choice);
    Stream(*scheduler, options, count).run(stop.fd());
    return 0;
}

} // namespace ptsched
