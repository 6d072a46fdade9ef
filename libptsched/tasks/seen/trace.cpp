// SPDX-License-Identifier: MIT
#include "libptsched/tasks/seen/trace.hpp"

#include "libptsched/base/trace_events.hpp"

#include <algorithm>

namespace ptsched::tasks {

namespace {

constexpr char host_group[] = "host", idle[] = "idle";
/* Text is written whenever it is so long. */
constexpr std::size_t most_text = std::size_t{1} << 20;

std::uint64_t next_number()
{
    static std::atomic<std::uint64_t> last{0};
    return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

/* The row that the calling thread asked for last. */
struct Lately {
    std::uint64_t trace = 0;
    Trace::Row *row = nullptr;

    static Lately &get()
    {
        static thread_local Lately lately;
        return lately;
    }
};

} // namespace

void Trace::Row::add(Span span) noexcept
{
    Guard lock(mutex_);
    if (spans_are_ == Spans::in_order)
        span.began = std::max(span.began, last_ended_);
    last_ended_ = span.ended = std::max(span.began, span.ended);
    add_locked(span);
}

void Trace::Row::add_idle(Clock::time_point began, Clock::time_point ended) noexcept
{
    Guard lock(mutex_);
    if (size_) {
        Span &last = chunks_[(size_ - 1) / at_once][(size_ - 1) % at_once];
        if (last.name == idle) {
            last.ended = ended;
            return;
        }
    }
    add_locked({idle, 0, began, ended});
}

void Trace::Row::add_locked(const Span &span)
{
    try {
        if (size_ == chunks_.size() * at_once) {
            if (trace_.chunks_.fetch_add(1, std::memory_order_relaxed) >= most_chunks)
                throw std::bad_alloc();
            chunks_.push_back(std::make_unique<Span[]>(at_once));
        }
        chunks_[size_ / at_once][size_ % at_once] = span;
        size_++;
    } catch (const std::bad_alloc &) {
        lost_++;
    }
}

Trace::Trace(const std::string &path) : number_(next_number()), output_("Options::timeline", path) {}

Trace::~Trace()
{
    Guard lock(mutex_);
    std::uint64_t lost = 0;
    std::map<std::string, unsigned> groups{{host_group, 1}};
    for (Row &row : rows_) {
        Guard row_lock(row.mutex_);
        lost += row.lost_;
        groups.try_emplace(row.group_, static_cast<unsigned>(groups.size()) + 1);
    }
    TraceEvents events(lost);
    for (const auto &[name, group] : groups)
        events.name_group(group, name);
    unsigned number = 0;
    for (Row &row : rows_) {
        Guard row_lock(row.mutex_);
        const unsigned group = groups[row.group_];
        events.name_row(group, ++number, row.name_);
        for (std::size_t i = 0; i < row.size_; i++) {
            const Span &span = row.chunks_[i / Row::at_once][i % Row::at_once];
            events.add_span(group, number, span.name, span.began - origin_, span.ended - span.began,
                            {{"task", span.task}, {"bytes", span.bytes}});
            if (events.bytes() >= most_text)
                output_.write(events.take());
        }
    }
    output_.write(events.take_end());
    output_.close();
}

Trace::Row &Trace::add_row(const std::string &group, const std::string &name, Row::Spans spans)
{
    Guard lock(mutex_);
    return rows_.emplace_back(*this, group, name, spans);
}

void Trace::name_this_thread(const std::string &name)
{
    Lately::get() = {number_, &row_of_thread(name)};
}

Trace::Row &Trace::of_this_thread()
{
    Lately &lately = Lately::get();
    if (lately.trace != number_)
        lately = {number_, &row_of_thread({})};
    return *lately.row;
}

/* Those that are not the runtime's have no name. */
Trace::Row &Trace::row_of_thread(const std::string &name)
{
    Guard lock(mutex_);
    Row *&row = of_threads_[std::this_thread::get_id()];
    if (!row)
        row =
            &rows_.emplace_back(*this, host_group, name.empty() ? "thread " + std::to_string(++unnamed_threads_) : name,
                                Row::Spans::nested);
    return *row;
}

} // namespace ptsched::tasks
