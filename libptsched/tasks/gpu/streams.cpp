// SPDX-License-Identifier: MIT
#include "libptsched/tasks/gpu/streams.hpp"

#include "libptsched/tasks/here.hpp"

#include <algorithm>

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
      first_number_(first),
      code_(device::cuda_stream_code(device,
                                     [this](const device::StreamWork &work) {
                                         const Task &task = *calling_;
                                         task.function->on_gpu(task.closure,
                                                               {task.declared(), uses_.places.data(), site_.device,
                                                                &calling_on_->queue(), work.stream, work.device});
                                     })),
      visit_(device, options.attach, [&listener] { listener.wake(); })
{
    directory.add_device(device);
    for (unsigned i = 0; i < options.streams; i++) {
        streams_.push_back(std::make_unique<Stream>(device, first + i, all));
        directory.add_stream(*streams_.back());
        add_row(i);
    }
}

void Streams::add_row(unsigned stream)
{
    if (Trace *trace = listener_.trace())
        rows_.push_back(&trace->add_row(site_.device->name() + " #" + std::to_string(site_.index),
                                        "stream " + std::to_string(stream)));
}

void Streams::push(Task &task)
{
    waiting_++;
    Task **place = last_waiting_ ? &last_waiting_->next : &first_waiting_;
    if (last_waiting_ && last_waiting_->attributes.priority < task.attributes.priority)
        for (place = &first_waiting_; (*place)->attributes.priority >= task.attributes.priority;)
            place = &(*place)->next;
    task.next = *place;
    *place = &task;
    if (!task.next)
        last_waiting_ = &task;
}

/* What follows the last task of a stream there needs no event. */
Stream *Streams::choose(Task &task)
{
    for (std::uint32_t i = 0; i < task.edge_count; i++) {
        const Position &after = task.edge(i).after;
        Stream *const stream = after.stream;
        if (stream && owns(*stream) && after.number == stream->last() && stream->in_flight() && !stream->is_full())
            return stream;
    }
    Stream *least = nullptr;
    for (unsigned i = 0; i < streams_.size(); i++) {
        Stream &stream = *streams_[(next_ + i) % streams_.size()];
        if (!least || stream.in_flight() < least->in_flight())
            least = &stream;
        if (!least->in_flight())
            break;
    }
    next_ = (least->number() - first_number_ + 1) % static_cast<unsigned>(streams_.size());
    return least->is_full() ? nullptr : least;
}

unsigned Streams::give(unsigned most)
{
    unsigned count = 0;
    if (!first_waiting_ || !visit_.may_give())
        return 0;
    /* Who has no turns of his own has the interposer's. */
    const device::Exempt exempt(visit_.has_turns());
    for (; count < most && first_waiting_; count++) {
        if (visit_.has_turns() && in_flight_ >= most_in_a_turn)
            break;
        Task &task = *first_waiting_;
        Stream *const stream = choose(task);
        if (!stream)
            break;
        first_waiting_ = std::exchange(task.next, nullptr);
        if (!first_waiting_)
            last_waiting_ = nullptr;
        waiting_--;
        give(task, *stream);
    }
    if (!count)
        return 0;
    batches_.add(1);
    for (const auto &stream : streams_)
        stream->mark_tail();
    return count;
}

void Streams::give(Task &task, Stream &stream)
{
    Stream::Given given{&task};
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
    if (!in_flight_++ && placement_.devices() > 1)
        last_end_ = std::chrono::steady_clock::now();
    /* What has failed may have given some work before: it ends when that has, and nothing is to follow it. */
    if (has_failed)
        return;
    if (others_follow(task))
        stream.mark_tail_for_others();
    listener_.given(task);
}

/* Not just one that goes behind it: a marker further back would have the others wait for what they need not. */
bool Streams::others_follow(const Task &task)
{
    const Edge *last = task.given.first();
    return last && (last->next || last->to->waits.load(std::memory_order_relaxed) > 1);
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
    if (count && placement_.devices() > 1)
        measure(count);
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

/* Ends that come together count as evenly spread over the time before. */
void Streams::measure(unsigned ended)
{
    constexpr double average_of = 8;
    const auto now = std::chrono::steady_clock::now();
    const double each = std::chrono::duration<double>(now - last_end_).count() / ended;
    last_end_ = now;
    seconds_of_each_ = seconds_of_each_ > 0 ? seconds_of_each_ + (each - seconds_of_each_) / average_of : each;
}

void Streams::leave()
{
    if (visit_.has_turns() && !in_flight_ && (!first_waiting_ || visit_.is_recalled()))
        visit_.leave();
}

} // namespace ptsched::tasks
