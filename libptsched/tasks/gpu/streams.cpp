// SPDX-License-Identifier: MIT
#include "libptsched/tasks/gpu/streams.hpp"

#include "libptsched/tasks/here.hpp"

#include <algorithm>
#include <limits>

namespace ptsched::tasks {

namespace {

std::unique_ptr<device::Queue> copy_queue(device::Device &device)
{
    std::unique_ptr<device::Queue> queue = device.make_queue();
    if (!queue->native_stream() || !device.orders_others())
        throw Error("tasks: " + device.name() + " has no streams of CUDA: Options::devices is to name GPUs of gpus()");
    return queue;
}

} // namespace

Streams::Streams(device::Device &device, unsigned index, const Options &options, unsigned first, unsigned all,
                 Directory &directory, Placement &placement, GpuListener &listener)
    : site_{&device, index, copy_queue(device)}, directory_(directory), placement_(placement), listener_(listener),
      first_number_(first), ordinary_{0, options.streams}, urgent_{options.streams, options.streams},
      code_(device::cuda_stream_code(device,
                                     [this](const device::StreamWork &work) {
                                         const Task &task = *calling_;
                                         task.function->on_gpu(task.closure,
                                                               {task.declared(), uses_.places.data(), site_.device,
                                                                &calling_on_->queue(), work.stream, work.device});
                                     })),
      visit_(device, options.attach, [&listener] { listener.wake(); }),
      ahead_(site_, directory, [&listener](Task &task) { listener.release(task); })
{
    directory.add_device(device);
    add_streams(ordinary_, all, 0, "stream ");
    add_streams(urgent_, all, device.priorities().highest, "urgent stream ");
}

void Streams::add_streams(const Group &group, unsigned all, int priority, const std::string &name)
{
    Trace *const trace = listener_.trace();
    for (unsigned i = 0; i < group.count; i++) {
        streams_.push_back(
            std::make_unique<Stream>(device().make_queue_at(priority), first_number_ + group.first + i, all, now_));
        directory_.add_stream(*streams_.back());
        if (trace)
            rows_.push_back(
                &trace->add_row(device().name() + " #" + std::to_string(site_.index), name + std::to_string(i)));
    }
}

/* Streams whose tasks were longer or shorter than others' come together again by that. */
void Streams::tell_time()
{
    Estimate oldest = std::numeric_limits<Estimate>::max(), latest = now_;
    for (const auto &stream : streams_)
        if (stream->in_flight())
            oldest = std::min(oldest, stream->until(stream->last() + 1 - stream->in_flight()) - 1);
        else
            latest = std::max(latest, stream->until());
    now_ = in_flight_ ? std::max(now_, oldest) : latest;
}

/* Devices' estimates are of their own time: of another one's task it counts how long it will take from now on. */
Estimate Streams::ready_at(Task &task) const
{
    Estimate ready = now_;
    for (std::uint32_t i = 0; i < task.edge_count; i++)
        if (const Position &after = task.edge(i).after; after.stream && !after.stream->has_ended(after.number))
            ready = std::max(ready, now_ + after.stream->left(after.number));
    return ready;
}

Estimate Streams::free_at() const
{
    Estimate first = std::numeric_limits<Estimate>::max();
    for (unsigned i = 0; i < ordinary_.count; i++)
        first = std::min(first, free_at(*streams_[ordinary_.first + i]));
    return first;
}

/*
 * What follows the last task of a stream there needs no event. Else, of those that are free by when it can begin, that
 * which is the last to be, so that others need not wait for this one; or which is the first.
 */
Stream *Streams::choose(Task &task, Estimate ready)
{
    Group &group = task.attributes.priority > 0 ? urgent_ : ordinary_;
    for (std::uint32_t i = 0; i < task.edge_count; i++) {
        const Position &after = task.edge(i).after;
        Stream *const stream = after.stream;
        if (is_here(after) && group.has(stream->number() - first_number_) && after.number == stream->last() &&
            stream->in_flight() && !stream->is_full())
            return stream;
    }
    const auto is_better = [ready](Estimate one, Estimate other) {
        if ((one <= ready) != (other <= ready))
            return one <= ready;
        return one <= ready ? one > other : one < other;
    };
    Stream *best = nullptr;
    Estimate best_free = 0;
    for (unsigned i = 0, at = group.next; i < group.count; i++, at = at + 1 < group.count ? at + 1 : 0) {
        Stream &stream = *streams_[group.first + at];
        if (stream.is_full())
            continue;
        const Estimate free = free_at(stream);
        if (best && !is_better(free, best_free))
            continue;
        best = &stream;
        best_free = free;
    }
    if (best)
        group.next = (best->number() - first_number_ - group.first + 1) % group.count;
    return best;
}

unsigned Streams::give(unsigned most, const std::function<void()> &take)
{
    unsigned count = 0;
    if (waiting_.empty() || !visit_.may_give())
        return 0;
    /* Who has no turns of his own has the interposer's. */
    const device::Exempt exempt(visit_.has_turns());
    tell_time();
    for (; count < most && !waiting_.empty(); count++) {
        if (visit_.has_turns() && in_flight_ >= most_in_a_turn)
            break;
        const ReadyList::Item item = waiting_.next(free_at());
        Stream *const stream = choose(*item.task, item.ready);
        if (!stream)
            break;
        waiting_.pop();
        give(*item.task, *stream, item.ready);
        take();
        ahead_.go_on();
    }
    if (!count)
        return 0;
    batches_.add(1);
    for (const auto &stream : streams_)
        stream->mark_tail();
    return count;
}

void Streams::give(Task &task, Stream &stream, Estimate ready)
{
    Stream::Given given{&task};
    given.until = std::max(ready, free_at(stream)) + 1;
    if (!rows_.empty())
        given.begun = Clock::now();
    const std::uint64_t copied_before = copied();
    try {
        follow(task, stream);
        directory_.use(task, site_, stream, uses_);
        if (uses_.items.empty())
            call(task, stream, given);
        else
            give_in_place(task, stream, given);
    } catch (...) {
        given.failure = std::current_exception();
    }
    given.bytes = copied() - copied_before;
    const bool has_failed = given.failure != nullptr;
    task.position = stream.add(std::move(given));
    in_flight_++;
    /*
     * What has failed may have given some work before: it ends when that has, and nothing is to follow it. Who follows
     * a task with holds comes when these have gone, too.
     */
    if (has_failed || task.holds.load(std::memory_order_acquire))
        return;
    if (is_asked_for(task))
        stream.mark_tail_for_others();
    listener_.given(task);
}

/*
 * Whether a marker further back would have others wait for what they need not: tasks, unless it is just one that goes
 * behind it, or who has to copy its result.
 */
bool Streams::is_asked_for(const Task &task)
{
    constexpr std::size_t long_copy = 256 << 10;
    if (const Edge *last = task.given.first())
        return last->next || last->to->waits.load(std::memory_order_relaxed) > 1;
    std::size_t written = 0;
    for (const Access &access : task.declared())
        written += writes(access.mode) ? access.range.bytes() : 0;
    return written >= long_copy;
}

/* Of what is in one stream, the last is enough. */
void Streams::follow(Task &task, Stream &stream)
{
    constexpr std::uint32_t most_compared = 16;
    const std::uint32_t compared = std::min(task.edge_count, most_compared);
    unsigned waits = 0;
    for (std::uint32_t i = 0; i < task.edge_count; i++) {
        const Position &after = task.edge(i).after;
        bool is_last = after.stream != nullptr;
        for (std::uint32_t j = 0; j < compared && is_last; j++)
            is_last = task.edge(j).after.stream != after.stream || task.edge(j).after.number <= after.number;
        if (is_last)
            waits += stream.follow(after);
    }
    if (waits)
        stream_waits_.add(waits);
}

void Streams::give_in_place(Task &task, Stream &stream, Stream::Given &given)
{
    uses_.addresses.resize(uses_.items.size());
    device::Access access(*site_.device, stream.queue(), *site_.copies, uses_.items, uses_.addresses.data());
    for (std::size_t i = 0; i < uses_.items.size(); i++)
        uses_.places[uses_.access_of[i]].address = device::host_pointer(uses_.addresses[i]);
    call(task, stream, given);
    access.given(stream.queue().mark_for_later());
}

void Streams::call(Task &task, Stream &stream, Stream::Given &given)
{
    const Called called(listener_.trace(), task);
    /* Who serves need not be one of the runtime's workers, and has no lane there then. */
    const Here &here = Here::get();
    const bool is_worker = here.core && here.core == task.core;
    const Running running({is_worker ? here.core : nullptr, is_worker ? here.lane : nullptr, &task, true});
    calling_ = &task;
    calling_on_ = &stream;
    try {
        if (task.runs_on_host && placement_.wants_measure(task))
            given.watch = stream.queue().watch();
        stream.queue().run(*code_, {}, no_arguments_);
        if (given.watch)
            given.watch->stop();
    } catch (...) {
        given.failure = std::current_exception();
    }
}

unsigned Streams::collect()
{
    if (!in_flight_)
        return 0;
    unsigned count = 0;
    for (const auto &stream : streams_) {
        if (!stream->in_flight())
            continue;
        stream->collect([&](Stream::Given &given) {
            count++;
            end(given);
        });
        stream->mark_tail();
    }
    ended_.add(count);
    return count;
}

void Streams::end(Stream::Given &given)
{
    Task &task = *given.task;
    if (!rows_.empty())
        rows_[task.position.stream->number() - first_number_]->add(
            {task.attributes.name, task.number, given.begun, Clock::now(), given.bytes});
    in_flight_--;
    if (task.runs_on_host)
        placement_.ran_on_gpu(task, given.watch && !given.failure ? given.watch->seconds() : 0);
    listener_.ended(task, std::move(given.failure));
}

void Streams::leave()
{
    if (visit_.has_turns() && !in_flight_ && (waiting_.empty() || visit_.is_recalled()))
        visit_.leave();
}

} // namespace ptsched::tasks
