/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_TASKS_PARTIAL_HPP
#define PTSCHED_TASKS_PARTIAL_HPP

#include "libptsched/base/lock.hpp"
#include <ptsched/tasks/range.hpp>

#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace ptsched::tasks {

/*
 * The partial results of a reduction: as many copies as tasks were at it at once, each of which many tasks one after
 * another add to. Thread-safe.
 */
class Partial {
public:
    Partial(const Range &range, const Combine &combine) : range_(range), combine_(combine) {}

    const Combine &combine() const { return combine_; }
    /* A copy that nobody else has. Throws std::bad_alloc. */
    std::byte *take()
    {
        {
            Guard lock(mutex_);
            if (!idle_.empty()) {
                std::byte *copy = idle_.back();
                idle_.pop_back();
                return copy;
            }
        }
        Copy copy(static_cast<std::byte *>(::operator new(range_.bytes(), alignment)));
        combine_.begin(copy.get(), range_.bytes());
        Guard lock(mutex_);
        copies_.reserve(copies_.size() + 1);
        idle_.reserve(copies_.size() + 1);
        copies_.push_back(std::move(copy));
        return copies_.back().get();
    }
    void give_back(std::byte *copy)
    {
        Guard lock(mutex_);
        idle_.push_back(copy);
    }
    /* Nobody adds to a copy any more: what they have comes to the range itself. */
    void add_up()
    {
        Guard lock(mutex_);
        for (const Copy &copy : copies_)
            combine_.add(range_.begin, copy.get(), range_.bytes());
        idle_.clear();
        copies_.clear();
    }

private:
    static constexpr std::align_val_t alignment{64};
    struct Delete {
        void operator()(std::byte *memory) const { ::operator delete(memory, alignment); }
    };
    using Copy = std::unique_ptr<std::byte, Delete>;

    const Range range_;
    const Combine combine_;
    Mutex mutex_;
    std::vector<Copy> copies_ PTSCHED_GUARDED_BY(mutex_);
    std::vector<std::byte *> idle_ PTSCHED_GUARDED_BY(mutex_);
};

} // namespace ptsched::tasks

#endif /* PTSCHED_TASKS_PARTIAL_HPP */
