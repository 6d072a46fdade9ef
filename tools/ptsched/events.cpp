// SPDX-License-Identifier: MIT
/* ptsched events: what the scheduler does, as it happens. */
#include "tools/ptsched/commands.hpp"
#include "tools/ptsched/format.hpp"
#include "tools/ptsched/json.hpp"
#include "tools/ptsched/stop_signals.hpp"
#include "tools/ptsched/units.hpp"
#include "tools/ptsched/write_all.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iomanip>
#include <iostream>
#include <map>
#include <poll.h>
#include <sstream>
#include <unistd.h>

namespace ptsched {

namespace {

std::string format_instant(std::uint64_t ns)
{
    char text[40];
    std::snprintf(text, sizeof(text), "%llu.%06llu", static_cast<unsigned long long>(ns / 1000000000),
                  static_cast<unsigned long long>(ns % 1000000000 / 1000));
    return text;
}

std::string text_line(const std::string &time, const std::string &device, const std::string &event,
                      const std::string &pid, const std::string &turn, const std::string &budget,
                      const std::string &comm)
{
    std::ostringstream line;
    auto column = [&line](int width, const std::string &text) { line << std::setw(width) << text << "  "; };
    column(16, time);
    line << std::left;
    column(12, device);
    column(8, event);
    line << std::right;
    column(7, pid);
    column(8, turn);
    column(8, budget);
    line << comm << '\n';
    return line.str();
}

std::string event_line(const Event &event, const std::string &pci, bool json)
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
        return dump_json(line) + '\n';
    }
    if (!event.pid)
        return text_line(format_instant(event.time_ns), pci, event_name(event.event), "-", "-", "-", "-");
    return text_line(format_instant(event.time_ns), pci, event_name(event.event), std::to_string(*event.pid),
                     std::to_string(event.turn), format_rounded(event.budget_ns), printable(event.comm));
}

/* Says that from now on nothing is missed. */
std::string first_line_of(const Scheduler &scheduler, bool json)
{
    if (json)
        return dump_json({{"event", "subscribed"}, {"scheduler", scheduler.kind()}, {"path", scheduler.path()}}) + '\n';
    return text_line("TIME", "DEVICE", "EVENT", "PID", "TURN", "BUDGET", "COMMAND");
}

class Stream {
public:
    Stream(Scheduler &scheduler, const EventsOptions &options, std::int64_t count)
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

        if (!print(first_line_of(scheduler_, json_), stop))
            return;
        while (left_ != 0) {
            pollfd fds[2] = {{.fd = events, .events = POLLIN, .revents = 0},
                             {.fd = stop, .events = POLLIN, .revents = 0}};
            if (poll(fds, 2, -1) < 0 && errno != EINTR)
                throw Error(std::string("poll: ") + strerror(errno));
            if (fds[1].revents || !show(stop))
                return;
        }
    }

private:
    Scheduler &scheduler_;
    bool json_;
    std::map<std::uint32_t, std::string> names_;
    std::optional<std::uint32_t> only_;
    std::int64_t left_; /* negative: no end */

    /* False: @stop is readable, and nobody reads what is written. */
    static bool print(const std::string &text, int stop)
    {
        int error = write_all(STDOUT_FILENO, text, stop);
        if (error && error != ECANCELED)
            throw Error(std::string("cannot write to standard output: ") + strerror(error));
        return !error;
    }

    bool show(int stop)
    {
        std::string text;

        for (const Event &event : scheduler_.read_events()) {
            if (left_ == 0)
                break;
            if (event.event == PTSCHED_EVENT_LOST) {
                text += lost_line();
                continue;
            }
            if (only_ && event.device_id != *only_)
                continue;
            text += event_line(event, name(event.device_id), json_);
            if (left_ > 0)
                left_--;
        }
        return print(text, stop);
    }

    /* Events that were not delivered, in the stream where they are missing. */
    std::string lost_line() const
    {
        std::cerr << "ptsched: events were lost here, because they came faster than they were read\n";
        return json_ ? dump_json({{"event", "lost"}}) + '\n' : "";
    }

    /* A device may have come since the start. */
    const std::string &name(std::uint32_t id)
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
    std::int64_t count = options.count.empty() ? -1 : parse_integer("count", options.count, 1, INT64_MAX);
    StopSignals stop;
    auto scheduler = open_scheduler(options.choice);
    Stream(*scheduler, options, count).run(stop.fd());
    return 0;
}

} // namespace ptsched
