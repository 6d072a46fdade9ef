// SPDX-License-Identifier: MIT
#include "libptsched/device/attachment.hpp"

#include "libptsched/base/be_prompt.hpp"
#include "libptsched/base/no_signals.hpp"
#include "libptsched/base/time_calls.hpp"
#include "libptsched/device/requester.hpp"
#include <ptsched/device/log.hpp>
#include <ptsched/ptsched.hpp>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <poll.h>
#include <utility>

namespace ptsched::device {

namespace {

constexpr std::uint64_t for_ever = ~0ull;
/*
 * A wait for a turn is begun anew so often, should the program have gone or be another's meanwhile: longer than
 * waits mostly are, since it begins behind those who wait already.
 */
constexpr std::uint64_t patience_ns = 250000000;
/*
 * A turn is kept so long with nothing on the device: where somebody waits and nothing is known of how soon the program
 * comes back, where somebody may come, and where the program has not come round to using it.
 */
constexpr std::uint64_t linger_ns = 150000, company_ns = 20000000, unused_ns = 20000000;
constexpr std::uint64_t report_ns = 100000000;
constexpr std::uint64_t measure_every_ns = 1000000, no_bell_ns = 10000000;

std::atomic<bool> said_absent{false}, said_gone{false}, said_own{false};

void say_once(std::atomic<bool> &said, const Turns::Calls &who, const std::string &what)
{
    if (!said.exchange(true))
        log_line(who.library + ": " + what);
}

/* What Clock shows. */
std::uint64_t now_ns()
{
    return static_cast<std::uint64_t>(std::chrono::nanoseconds(Clock::now().time_since_epoch()).count());
}

/* For how long to wait at a stretch until it has gone on by so much. */
std::uint64_t stretch_ns(std::uint64_t ns)
{
    const auto at = Clock::now() + std::chrono::nanoseconds(ns);
    return static_cast<std::uint64_t>(std::chrono::nanoseconds(Clock::stretch_until(at)).count());
}

} // namespace

std::unique_ptr<Attachment> Attachment::open(Device &device, Attach how, Turns::Calls calls,
                                             std::function<Activity()> activity)
{
    const std::string address = device.bus_address();
    if (how == Attach::no)
        return nullptr;
    ptsched_client *client = nullptr;
    std::string problem;
    if (address.empty())
        problem = "ptsched gives out devices of the PCI bus, and " + device.name() + " is none";
    else if (int error = ptsched_open(address.c_str(), PTSCHED_MECHANISM_GATE, PTSCHED_BACKEND_AUTO, &client))
        problem = detail::why_not_open(address, error);
    if (client)
        return std::make_unique<Attachment>(address, client, std::move(calls), std::move(activity));
    if (how == Attach::required)
        throw Error("the " + calls.user + " is to be scheduled on " + device.name() + ", and cannot be: " + problem);
    say_once(said_absent, calls, problem + ": the " + calls.user + " runs unscheduled on " + device.name());
    return nullptr;
}

Attachment::Attachment(std::string device, ptsched_client *client, Turns::Calls calls,
                       std::function<Activity()> activity)
    : device_(std::move(device)), client_(client), page_(ptsched_client_page(client)), calls_(std::move(calls)),
      activity_(std::move(activity))
{
    try {
        presence_ = Presence::of(device_, 0);
        if (!bell_.open())
            throw Error(std::string("no socket for a thread: ") + std::strerror(errno));
        NoSignals for_it;
        thread_ = std::thread(&Attachment::work, this);
    } catch (...) {
        ptsched_close(client_);
        throw;
    }
}

Attachment::~Attachment()
{
    quit();
    ptsched_close(client_);
}

void Attachment::quit()
{
    {
        Guard lock(mutex_);
        stopping_ = true;
    }
    wake();
    if (thread_.joinable())
        thread_.join();
}

void Attachment::wake()
{
    bell_.ring();
}

/* Whether the turn is one requester's, and has been for long enough, while another has asked since. */
bool Attachment::is_anothers() const
{
    return !is_same(requester_, served_) && now_ns() - granted_ns_ >= Turns::requester_ns;
}

/* What somebody waits for ends in time anyway. */
bool Attachment::may_use_turn() const
{
    const std::uint32_t state = ptsched_state(page_);
    if (!granted_ || state & (PTSCHED_STATE_CALLBACK | PTSCHED_STATE_DEAD))
        return false;
    return state & PTSCHED_STATE_WANTED || !is_anothers();
}

bool Attachment::begin()
{
    Guard lock(mutex_);
    return try_to_begin();
}

/* Null: for ever. */
bool Attachment::begin_until(const Clock::time_point *time)
{
    Lock lock(mutex_);
    auto begun = [this]() PTSCHED_REQUIRES(mutex_) { return try_to_begin(); };
    if (time)
        return Clock::wait_until(granted_or_open_, lock, *time, begun);
    granted_or_open_.wait(lock, begun);
    return true;
}

bool Attachment::try_to_begin()
{
    if (!open_ && !may_use_turn()) {
        if (!std::exchange(wanted_, true))
            wanted_since_ns_ = now_ns();
        wake();
        return false;
    }
    if (!in_flight_++) {
        busy_since_ns_ = now_ns();
        first_ns_ = first_ns_ ? first_ns_ : busy_since_ns_;
    }
    used_ = true;
    if (std::exchange(resting_, false))
        wake();
    return true;
}

void Attachment::begin_more()
{
    Guard lock(mutex_);
    if (!in_flight_++)
        busy_since_ns_ = now_ns();
}

void Attachment::ended(bool submitted)
{
    Guard lock(mutex_);
    /* Of work that stays its pieces are counted. */
    if (submitted && !activity_) {
        submissions_++;
        measured_seconds_ += mean_seconds_;
    }
    if (--in_flight_)
        return;
    last_end_ns_ = now_ns();
    presence_->ended(last_end_ns_);
    busy_ns_ += last_end_ns_ - busy_since_ns_;
    constexpr std::uint32_t to_end = PTSCHED_STATE_CALLBACK | PTSCHED_STATE_WANTED;
    if (granted_ && (ptsched_state(page_) & to_end || is_anothers()))
        wake();
}

bool Attachment::has_room(double seconds) const
{
    if (!(ptsched_state(page_) & PTSCHED_STATE_CONTENDED))
        return true;
    std::uint64_t bound = __atomic_load_n(&page_->inflight_ns, __ATOMIC_RELAXED);
    return !bound || seconds * 1e9 < static_cast<double>(bound);
}

bool Attachment::wants_measure()
{
    std::uint64_t now = now_ns();
    Guard lock(mutex_);
    if (now - measure_ns_ < measure_every_ns)
        return false;
    measure_ns_ = now;
    return true;
}

/* The mean counts for those that are not measured. */
void Attachment::measured(double seconds)
{
    Guard lock(mutex_);
    mean_seconds_ += mean_seconds_ > 0 ? (seconds - mean_seconds_) / 4 : seconds;
}

void Attachment::act_for(RequesterPtr requester)
{
    Guard lock(mutex_);
    requester_ = std::move(requester);
}

void Attachment::count_busy(std::uint64_t now)
{
    if (!in_flight_)
        return;
    busy_ns_ += now - busy_since_ns_;
    busy_since_ns_ = now;
}

/* Since the last time, at which it was known whether others use the device. */
void Attachment::count_stay(std::uint32_t state, std::uint64_t now)
{
    if (!activity_)
        return;
    count_busy(now);
    const Activity activity = activity_();
    /* Who tells it reads a clock while another stops it: it may seem to have fallen a little. */
    const std::uint64_t busy = activity.busy_ns > counted_.busy_ns ? activity.busy_ns - counted_.busy_ns : 0;
    stay_ns_ += had_company_ ? busy_ns_ : std::min(busy, busy_ns_);
    submissions_ += static_cast<std::uint32_t>(activity.pieces - counted_.pieces);
    busy_ns_ = 0;
    counted_ = {std::max(counted_.busy_ns, activity.busy_ns), activity.pieces};
    had_company_ = state & PTSCHED_STATE_CONTENDED;
}

/* Runs overlap, so that what they take can be more than the time that has passed. */
ptsched_usage Attachment::take_usage(std::uint64_t now)
{
    count_busy(now);
    count_stay(ptsched_state(page_), now);
    auto measured = static_cast<std::uint64_t>(std::max(measured_seconds_, 0.0) * 1e9);
    ptsched_usage usage = {activity_ ? stay_ns_ : std::min(measured, busy_ns_), 0, submissions_};
    submissions_ = 0;
    stay_ns_ = 0;
    measured_seconds_ = 0;
    busy_ns_ = 0;
    reported_ns_ = now;
    return usage;
}

void Attachment::open_gate(Lock &lock, const char *why)
{
    open_ = true;
    if (std::exchange(granted_, false))
        presence_->has_no_turn(true);
    wanted_ = false;
    say_once(said_gone, calls_, "the " + calls_.user + " goes on unscheduled, because " + why);
    may_begin(lock);
}

void Attachment::may_begin(Lock &lock)
{
    granted_or_open_.notify_all();
    if (!calls_.may_begin)
        return;
    Unlocked unlocked(lock, mutex_);
    calls_.may_begin();
}

/* What is on the device may have no end of its own. False if nobody is to be told. */
bool Attachment::recall(Lock &lock)
{
    if (!calls_.recalled || std::exchange(recalled_, true))
        return false;
    Unlocked unlocked(lock, mutex_);
    calls_.recalled();
    return true;
}

void Attachment::take_requester(Lock &lock)
{
    const RequesterPtr requester = served_ = requester_;
    presence_ = Presence::of(device_, requester ? requester->pid : 0);
    Unlocked unlocked(lock, mutex_);
    int error = ptsched_act_for(client_, PTSCHED_ACT_FOR_PIDFD, requester ? requester->pidfd.get() : -1);
    if (error && requester) {
        if (error == -EPERM)
            say_once(said_own, calls_,
                     "process " + std::to_string(requester->pid) + " weighs more, or is another user's: the " +
                         calls_.user + " works under its own weight");
        ptsched_act_for(client_, PTSCHED_ACT_FOR_PIDFD, -1);
    }
}

void Attachment::take_turn(Lock &lock)
{
    if (!is_same(requester_, served_))
        take_requester(lock);
    int error;
    {
        Unlocked unlocked(lock, mutex_);
        error = ptsched_acquire(client_, monotonic_ns() + patience_ns, 0, nullptr);
    }
    if (error == -ETIMEDOUT || error == -EINTR)
        return;
    if (error) {
        open_gate(lock, ptsched_strerror(error));
        return;
    }
    granted_ = true;
    wanted_ = used_ = recalled_ = false;
    granted_ns_ = reported_ns_ = now_ns();
    presence_->has_turn(wanted_since_ns_, granted_ns_, linger_ns);
    first_ns_ = 0;
    count_stay(ptsched_state(page_), granted_ns_);
    may_begin(lock);
}

void Attachment::give_back(Lock &lock, std::uint64_t now)
{
    ptsched_usage usage = take_usage(now);
    usage.handover_ns =
        (first_ns_ > granted_ns_ ? first_ns_ - granted_ns_ : 0) + now - std::max(last_end_ns_, granted_ns_);
    granted_ = false;
    presence_->has_no_turn(ptsched_state(page_) & PTSCHED_STATE_CALLBACK);
    if (int error = ptsched_release(client_, &usage); error && error != -EPERM)
        open_gate(lock, ptsched_strerror(error));
}

/* Of a turn with nothing on the device. */
bool Attachment::is_due_back(std::uint32_t state, std::uint64_t now, std::uint64_t &again_ns) const
{
    if (state & PTSCHED_STATE_CALLBACK || is_anothers())
        return true;
    if (!(state & (PTSCHED_STATE_WANTED | PTSCHED_STATE_CONTENDED)))
        return false;
    /* Other clients' work for the same requester is work in this turn, too. */
    const std::uint64_t since = std::max({last_end_ns_, granted_ns_, presence_->last_end()});
    const std::uint64_t idle = now > since ? now - since : 0;
    const std::uint64_t wanted_ns = presence_->linger(linger_ns);
    std::uint64_t kept = !used_ ? unused_ns : state & PTSCHED_STATE_WANTED ? wanted_ns : company_ns;
    if (idle < kept)
        again_ns = std::min(again_ns, kept - idle);
    return idle >= kept;
}

/* Returns after how long to look again. */
std::uint64_t Attachment::look_after_turn(Lock &lock)
{
    std::uint32_t events = __atomic_load_n(&page_->events, __ATOMIC_ACQUIRE);
    std::uint32_t state = ptsched_state(page_);
    std::uint64_t now = now_ns(), again_ns = for_ever;

    if (state & PTSCHED_STATE_DEAD) {
        open_gate(lock, ptsched_strerror(-EPIPE));
        return 0;
    }
    if (ptsched_poll_fd(client_) < 0) {
        open_gate(lock, ptsched_strerror(-EBADFD));
        return 0;
    }
    acknowledged_.acknowledge(client_, events, [] { return 0; });
    count_stay(state, now);
    if (!in_flight_ && is_due_back(state, now, again_ns)) {
        give_back(lock, now);
        return 0;
    }
    if (in_flight_ && state & PTSCHED_STATE_CALLBACK && recall(lock))
        return 0;
    if (state & PTSCHED_STATE_CONTENDED)
        again_ns = std::min(again_ns, company_ns);
    if (in_flight_ || submissions_ || stay_ns_) {
        if (now - reported_ns_ >= report_ns) {
            const ptsched_usage usage = take_usage(now);
            ptsched_report(client_, &usage);
        }
        again_ns = std::min(again_ns, reported_ns_ + report_ns - now);
    }
    return again_ns;
}

void Attachment::sleep(bool watch, std::uint64_t at_most_ns)
{
    /* A program may have closed what it does not know. */
    if (!bell_.open())
        at_most_ns = std::min(at_most_ns, no_bell_ns);
    pollfd waited[] = {{bell_.fd(), POLLIN, 0}, {watch ? ptsched_poll_fd(client_) : -1, POLLIN, 0}};
    poll_within(waited, 2, at_most_ns == for_ever ? kNoLimit : stretch_ns(at_most_ns));
    acknowledged_.set_called(waited[1].revents & POLLIN);
    if (waited[0].revents)
        bell_.answer();
}

void Attachment::work()
{
    pthread_setname_np(pthread_self(), (calls_.library + "-attach").c_str());
    /* Others wait for what it gives back. */
    be_prompt();

    Lock lock(mutex_);
    while (!stopping_) {
        if (wanted_ && !granted_ && !open_) {
            take_turn(lock);
            continue;
        }
        std::uint64_t at_most_ns = granted_ ? look_after_turn(lock) : for_ever;
        bool watch = granted_;
        if (!at_most_ns)
            continue;
        resting_ = at_most_ns == for_ever;
        Unlocked unlocked(lock, mutex_);
        sleep(watch, at_most_ns);
    }
    if (granted_)
        give_back(lock, now_ns());
}

} // namespace ptsched::device
