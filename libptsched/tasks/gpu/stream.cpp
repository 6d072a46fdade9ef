// SPDX-License-Identifier: MIT
#include "libptsched/tasks/gpu/stream.hpp"

#include <algorithm>

namespace ptsched::tasks {

Stream::Stream(std::unique_ptr<device::Queue> queue, unsigned number, unsigned all, const Estimate &now)
    : queue_(std::move(queue)), number_(number), now_(now), given_(most), follows_(all)
{
}

const Stream::Mark &Stream::mark()
{
    if (marks_.empty() || marks_.back().position != last_)
        marks_.push_back({last_, queue_->mark()});
    return marks_.back();
}

/* The first that is there or behind. */
const Stream::Mark &Stream::mark_at(std::uint64_t position)
{
    const auto found = std::lower_bound(marks_.begin(), marks_.end(), position,
                                        [](const Mark &mark, std::uint64_t to) { return mark.position < to; });
    return found == marks_.end() ? mark() : *found;
}

/*
 * How many there are, in their order. Throws what the first one does. To ask the driver takes as long as to give it a
 * marker: so it is not asked for each, but for the first, for the last and then by halves.
 */
std::size_t Stream::reached_marks()
{
    if (marks_.empty() || !marks_.front().marker->reached())
        return 0;
    std::size_t reached = 1, behind = marks_.size();
    try {
        while (reached < behind) {
            const std::size_t look = behind == marks_.size() ? behind - 1 : (reached + behind) / 2;
            if (marks_[look].marker->reached())
                reached = look + 1;
            else
                behind = look;
        }
    } catch (...) {
        /* It says so when it is the first. */
    }
    return reached;
}

bool Stream::follow(const Position &position)
{
    Stream *const other = position.stream;
    if (!other || other == this || other->has_ended(position.number) || follows_[other->number_] >= position.number)
        return false;
    const Mark &mark = other->mark_at(position.number);
    queue_->after(mark.marker);
    follows_[other->number_] = mark.position;
    return true;
}

Position Stream::add(Given given)
{
    last_++;
    given_[last_ % most] = std::move(given);
    return {this, last_};
}

void Stream::mark_tail() noexcept
{
    if (in_flight() && marks_.size() < most_marks)
        mark_tail_for_others();
}

void Stream::mark_tail_for_others() noexcept
{
    try {
        mark();
    } catch (...) {
        broken_ = std::current_exception();
    }
}

} // namespace ptsched::tasks
