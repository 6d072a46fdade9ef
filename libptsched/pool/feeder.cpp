// SPDX-License-Identifier: MIT
/* The pool's thread, which fills slots and empties them. */
#include "libptsched/base/nested.hpp"
#include "libptsched/pool/impl.hpp"
#include <ptsched/device/log.hpp>

#include <algorithm>
#include <utility>

namespace ptsched::pool {

namespace {

/* So many rounds without anything to do before the thread rests, and so long a rest while tasks are in slots. */
constexpr unsigned prompt_rounds = 2000, most_idle_rounds = 10000;
constexpr std::chrono::microseconds nap{20};
/* After so many rests one after another they get twice as long, a few times: who has waited long can wait longer. */
constexpr unsigned rests_of_a_length = 16, most_doublings = 5;
/* Between looks at the time. */
constexpr unsigned rounds_between_looks = 64;
/* Tasks that are handed out between looks at what has come back. */
constexpr unsigned at_once = 64;

/* To what no other thread changes: an instruction that locks the bus would wait for all that was written before. */
template <typename Number> void add(std::atomic<Number> &number, std::uint64_t more)
{
    number.store(number.load(std::memory_order_relaxed) + more, std::memory_order_release);
}

} // namespace

void CoreImpl::work()
{
    device::adopt_thread();
    try {
        unsigned idle_rounds = 0;
        for (unsigned round = 0; life() < Life::stopped; round++) {
            bool busy = false;
            for (const auto &guest : guests_)
                busy |= collect(*guest);
            busy |= hand_out();
            for (const auto &guest : guests_)
                guest->tell_load();
            if (round % rounds_between_looks == 0 || news_.load(std::memory_order_relaxed))
                look_after_guests();
            if (busy)
                idle_rounds = rests_ = 0;
            else if (idle_rounds++ > most_idle_rounds)
                rest();
            else if (idle_rounds > prompt_rounds)
                __builtin_ia32_pause();
        }
    } catch (...) {
        fail_device(std::current_exception());
    }
    take_off();
}

bool CoreImpl::collect(Guest &guest)
{
    Resident &resident = guest.resident();
    resident.find_results(at_once, found_);
    if (found_.empty())
        return false;
    if (resident.label_of_result(found_[0]).output == to_sender) {
        give_back(resident);
        return true;
    }
    return put_into_output(resident);
}

/* Before they can be seen to be done. */
void CoreImpl::count_done(std::size_t tasks)
{
    add(done_on_devices_, tasks);
    add(in_slots_, -tasks);
}

bool CoreImpl::put_into_output(Resident &resident)
{
    Output &output = *outputs_[resident.label_of_result(found_[0]).output];
    const std::size_t taken = output.results.push(found_.size(), [&](std::size_t i, std::size_t all, std::byte *to) {
        if (i == 0)
            count_done(all);
        const Label label = resident.label_of_result(found_[i]);
        resident.take_result(found_[i], to);
        return label;
    });
    if (!taken)
        return false;
    if (options_.host_threads)
        output.arrived.fetch_add(taken, std::memory_order_release);
    else
        add(output.arrived, taken);
    output.arrivals.wake();
    return true;
}

void CoreImpl::give_back(Resident &resident)
{
    count_done(found_.size());
    for (const unsigned block : found_) {
        auto &receipt = *reinterpret_cast<Receipt *>(resident.label_of_result(block).number);
        Sleepers &senders = senders_of(receipt);
        resident.take_result(block, receipt.task());
        /* From here on it may be gone. */
        receipt.is_back_.store(true, std::memory_order_release);
        senders.wake();
    }
}

bool CoreImpl::hand_out()
{
    std::size_t given = 0;
    for (std::size_t place = 0; place < guests_.size(); place++)
        given += give(bound_[place], *guests_[place], at_once);
    /* As evenly as may be. */
    while (given < at_once) {
        Guest *to = least_loaded();
        const std::size_t some = guests_.size() > 1 ? 1 : at_once;
        const std::size_t now = to ? give(any_, *to, some) + give(either_, *to, some) : 0;
        if (!now)
            break;
        given += now;
    }
    if (!given)
        return false;
    for (const auto &guest : guests_)
        guest->resident().ring();
    add(in_slots_, given);
    return true;
}

std::size_t CoreImpl::give(Inputs &from, Guest &to, std::size_t most)
{
    Resident &resident = to.resident();
    std::size_t given = 0;
    for (auto queue = from.queues.rbegin(); queue != from.queues.rend(); ++queue) {
        const std::size_t room = std::min(to.room(), most - given);
        if (!room)
            break;
        const std::size_t now =
            (*queue)->pop(room, [&](const std::byte *task, const Label &label) { resident.give(task, label); });
        if (now && room_.any_asleep() && (*queue)->is_roomy())
            room_.wake();
        given += now;
    }
    return given;
}

Guest *CoreImpl::least_loaded()
{
    Guest *best = nullptr;
    std::size_t load = 0, blocks = 1;
    for (const auto &guest : guests_) {
        if (!guest->room())
            continue;
        const Resident &resident = guest->resident();
        if (!best || resident.in_flight() * blocks < load * resident.shape().blocks) {
            best = guest.get();
            load = resident.in_flight();
            blocks = resident.shape().blocks;
        }
    }
    return best;
}

bool CoreImpl::is_wanted(std::size_t place) const
{
    return guests_[place]->resident().in_flight() || !bound_[place].empty() || !any_.empty() || !either_.empty();
}

void CoreImpl::look_after_guests()
{
    const bool news = news_.exchange(false, std::memory_order_acquire);
    const auto now = Clock::now();
    for (std::size_t place = 0; place < guests_.size(); place++) {
        Guest &guest = *guests_[place];
        if (news)
            guest.hear();
        const bool wanted = is_wanted(place);
        if (wanted)
            guest.busy(now);
        guest.look(wanted, now);
    }
    ask_host();
}

/* While devices have no room, the host may do what may be done there. */
void CoreImpl::ask_host()
{
    if (!either_.empty() && !least_loaded() && on_host_.load(std::memory_order_relaxed) < options_.host_threads)
        ready_on_host(1);
}

bool CoreImpl::has_something_to_do()
{
    if (life() >= Life::stopped || news_.load(std::memory_order_acquire))
        return true;
    for (std::size_t place = 0; place < guests_.size(); place++)
        if ((guests_[place]->room() || guests_[place]->may_come()) && is_wanted(place))
            return true;
    return false;
}

void CoreImpl::rest()
{
    auto until = no_limit();
    const auto longer_nap = nap * (1U << std::min(rests_++ / rests_of_a_length, most_doublings));
    for (const auto &guest : guests_) {
        until = std::min(until, guest->next_look());
        if (guest->is_there() && guest->resident().leaves())
            until = std::min(until, Clock::now() + nap);
        else if (guest->is_there() && guest->resident().in_flight())
            until = std::min(until, Clock::now() + longer_nap);
    }
    work_.wait_until(until, [this] { return has_something_to_do(); });
}

void CoreImpl::fail_device(std::exception_ptr cause)
{
    std::string begun;
    for (const auto &guest : guests_)
        begun += (begun.empty() ? "" : "; ") + guest->resident().describe_begun();
    fail(std::move(cause), "a device has failed; begun were: " + begun);
}

/* The first failure counts. */
void CoreImpl::fail(std::exception_ptr cause, const std::string &what)
{
    std::exception_ptr failure = nested<Failure>("pool: " + what, std::move(cause));
    {
        Guard lock(failure_mutex_);
        if (!failure_)
            failure_ = std::move(failure);
    }
    end_with(Life::failed);
}

/* Blocks end what they have begun; if one does not, its kernel stays, and all that it uses. */
void CoreImpl::take_off()
{
    const auto until = Clock::now() + options_.patience;
    for (auto &guest : guests_) {
        try {
            guest->leave();
            while (guest->is_there() && Clock::now() < until) {
                guest->look(false, Clock::now());
                std::this_thread::yield();
            }
        } catch (const std::exception &) {
            /* It has failed, and nothing of it is on the device any more. */
            guest->quit();
            continue;
        }
        guest->quit();
        if (!guest->is_there())
            continue;
        device::log_line("pool: a task does not end, and stays on " + guest->resident().device().name() +
                         " with its kernel: " + guest->resident().describe_begun());
        stay_.push_back(guest.get());
    }
}

} // namespace ptsched::pool
