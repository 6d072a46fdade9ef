// SPDX-License-Identifier: MIT
#include "tools/ptschedd/switchboard.hpp"

#include "libptsched/base/time_calls.hpp"
#include "libptsched/rm/rm_channels.hpp"
#include "tools/ptschedd/log.hpp"

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <linux/ptsched.h>
#include <utility>

namespace ptsched {
namespace {

/*
 * So long a process that was told to leave a device at once may take to do something: as long as the interposer lets
 * short work run out, and more.
 */
constexpr std::uint64_t kPatienceNs = 2000000;

/*
 * One that runs and still does nothing may be waiting in the driver for work that is off. It gets on now and then: off
 * for so long, then on for so long.
 */
constexpr std::uint64_t kOffNs = 40000000, kOnNs = 10000000;

bool contains(const std::vector<std::uint32_t> &channels, std::uint32_t channel)
{
    return std::find(channels.begin(), channels.end(), channel) != channels.end();
}

} // namespace

/* --- one switch --- */

void Switch::set_channels(Key key, ChannelSet channels)
{
    if (channels.channels.empty()) {
        sets_.erase(key);
    } else {
        Known &known = sets_[key];
        known.set = std::move(channels);
        /* One that was freed may come again, and is on then. */
        std::erase_if(known.off, [&known](std::uint32_t channel) { return !contains(known.set.channels, channel); });
    }
    start();
}

void Switch::ask(bool off, std::uint64_t turn, Answer answer)
{
    settle(turn);
    asked_off_ = off;
    own_off_ = false;
    answers_.push_back(std::move(answer));
    start();
}

void Switch::settle(std::uint64_t turn)
{
    settled_turn_ = std::max(settled_turn_, turn);
    if (demanded_turn_ <= settled_turn_)
        due_ns_ = PTSP_NEVER;
}

void Switch::demanded(std::uint64_t turn, std::uint64_t now)
{
    if (turn <= settled_turn_ || asked_off_)
        return;
    demanded_turn_ = turn;
    due_ns_ = now + kPatienceNs;
}

void Switch::released(std::uint64_t turn)
{
    settle(turn);
    forgive();
}

void Switch::forgive()
{
    own_off_ = false;
    start();
}

void Switch::act(bool off, std::uint64_t again_ns)
{
    due_ns_ = again_ns;
    own_off_ = off;
    start();
}

void Switch::end(bool alive)
{
    due_ns_ = PTSP_NEVER;
    asked_off_ = own_off_ = false;
    answers_.clear();
    std::vector<ChannelSet> sets;
    for (auto &[key, known] : std::exchange(sets_, {})) {
        /* What is on is left alone: the process may be taking it off itself by now. */
        if (!working_)
            known.set.channels = std::move(known.off);
        sets.push_back(std::move(known.set));
    }
    thread_.give(std::move(sets), alive ? SwitchThread::Action::on : SwitchThread::Action::none, [](int) {});
}

std::vector<std::uint32_t> Switch::to_switch(const Known &known, bool off)
{
    if (!off)
        return known.off;
    std::vector<std::uint32_t> channels = known.set.channels;
    std::erase_if(channels, [&known](std::uint32_t channel) { return contains(known.off, channel); });
    return channels;
}

/* Has the thread bring about what is wanted, one thing after another. */
void Switch::start()
{
    if (working_)
        return;
    bool off = wants_off();
    std::vector<ChannelSet> sets;
    Given given;
    for (const auto &[key, known] : sets_) {
        std::vector<std::uint32_t> channels = to_switch(known, off);
        if (channels.empty())
            continue;
        sets.push_back({known.set.file, known.set.client, known.set.subdevice, channels});
        given.emplace_back(key, std::move(channels));
    }
    if (sets.empty())
        return answer(0);
    working_ = true;
    auto action = off ? SwitchThread::Action::off : SwitchThread::Action::on;
    thread_.give(std::move(sets), action, [self = shared_from_this(), off, given = std::move(given)](int result) {
        self->done(off, given, result);
    });
}

void Switch::done(bool off, const Given &given, int result)
{
    working_ = false;
    for (const Given::value_type &one : given) {
        auto found = sets_.find(one.first);
        if (found == sets_.end())
            continue;
        Known &known = found->second;
        const std::vector<std::uint32_t> &channels = one.second;
        std::erase_if(known.off, [&channels](std::uint32_t channel) { return contains(channels, channel); });
        if (!off)
            continue;
        /* Also after a failure: some may be off. */
        std::copy_if(channels.begin(), channels.end(), std::back_inserter(known.off),
                     [&known](std::uint32_t channel) { return contains(known.set.channels, channel); });
    }
    /* Who asked hears of a failure, and need not be tried for again. */
    if (result)
        answer(result);
    start();
}

void Switch::answer(int result)
{
    for (Answer &answer : std::exchange(answers_, {}))
        answer(result);
}

/* --- a process --- */

Switchboard::Owner::Owner(Switchboard &board, ProcessRef process) : board_(board), process_(std::move(process))
{
    board_.owners_.emplace(process_->pid(), this);
}

Switchboard::Owner::~Owner()
{
    for (auto &[address, place] : places_)
        place.channels->end(!process_->exited());
    std::erase_if(board_.owners_, [this](const auto &entry) { return entry.second == this; });
}

int Switchboard::Owner::set_channels(UniqueFd file, std::uint32_t client, std::uint32_t subdevice,
                                     std::span<const std::uint32_t> channels)
{
    Switch::Key key{client, subdevice};
    if (channels.empty()) {
        auto known = addresses_.find(key);
        if (known != addresses_.end()) {
            places_[known->second].channels->set_channels(key, {});
            addresses_.erase(known);
        }
        return 0;
    }
    if (!file || !rm::is_control_device(file.get()))
        return -EBADF;
    /* The driver knows the client on the very file on which it was made, and on no other. */
    std::string address = rm::pci_address(file.get(), client, subdevice);
    if (address.empty())
        return -EINVAL;
    addresses_[key] = address;
    Place &place = places_[address];
    if (!place.channels)
        place.channels = std::make_shared<Switch>(board_.thread_);
    place.channels->set_channels(
        key, {board_.closer_.keep(std::move(file)), client, subdevice, {channels.begin(), channels.end()}});
    return 0;
}

int Switchboard::Owner::ask(const std::string &address, std::uint32_t device_id, bool off, std::uint64_t turn,
                            Switch::Answer answer)
{
    auto found = places_.find(address);
    if (found == places_.end() || !found->second.channels->has_channels())
        return -ENOENT;
    found->second.device_id = device_id;
    found->second.channels->ask(off, turn, std::move(answer));
    return 0;
}

/* --- all --- */

void Switchboard::event(std::uint32_t kind, pid_t pid, std::uint32_t device_id, std::uint64_t turn)
{
    auto [first, last] = owners_.equal_range(pid);
    for (auto entry = first; entry != last; ++entry) {
        for (auto &[address, place] : entry->second->places_) {
            if (place.device_id != device_id)
                continue;
            if (kind == PTSCHED_EVENT_PREEMPT) {
                place.channels->demanded(turn, monotonic_ns());
                next_ns_ = std::min(next_ns_, place.channels->due_ns());
            } else if (kind == PTSCHED_EVENT_RELEASE) {
                place.channels->released(turn);
            }
        }
    }
}

bool Switchboard::has_files_of_the_dead() const
{
    return closer_.is_busy() || std::any_of(owners_.begin(), owners_.end(),
                                            [](const auto &entry) { return entry.second->process_->exited(); });
}

void Switchboard::lost_events()
{
    for (const auto &[pid, owner] : owners_)
        for (const auto &[address, place] : owner->places_)
            place.channels->forgive();
}

void Switchboard::run(std::uint64_t now)
{
    if (next_ns_ > now)
        return;
    next_ns_ = PTSP_NEVER;
    for (const auto &[pid, owner] : owners_) {
        for (const auto &[address, place] : owner->places_) {
            if (place.channels->due_ns() > now) {
                next_ns_ = std::min(next_ns_, place.channels->due_ns());
                continue;
            }
            act(*owner->process_, address, *place.channels, now);
            next_ns_ = std::min(next_ns_, place.channels->due_ns());
        }
    }
}

void Switchboard::act(const Process &process, const std::string &address, Switch &channels, std::uint64_t now)
{
    /* A program that a debugger has stopped must find the device as it was. */
    if (process.has_debugger()) {
        debug("process %d does nothing: its channels on %s are left on, since a debugger is attached", process.pid(),
              address.c_str());
        return channels.act(false, PTSP_NEVER);
    }
    if (channels.is_own_off() && !process.is_stopped())
        return channels.act(false, now + kOnNs);
    if (!channels.is_own_off())
        debug("process %d does nothing: its channels on %s are switched off", process.pid(), address.c_str());
    channels.act(true, now + kOffNs);
}

} // namespace ptsched
