/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_TASKS_CHECKED_GUARDED_HPP
#define PTSCHED_TASKS_CHECKED_GUARDED_HPP

#include "libptsched/tasks/checked/bytes.hpp"

namespace ptsched::tasks {

/*
 * An array in pages of its own, the last of which ends as near behind it as may be; a page that nobody may touch stands
 * before it and behind it.
 */
class Guarded {
public:
    /* Throws OutOfMemory. */
    explicit Guarded(std::size_t bytes);
    ~Guarded();
    Guarded(Guarded &&other) noexcept;
    Guarded &operator=(Guarded &&) = delete;

    void *data() const { return data_.data(); }
    const Bytes &array() const { return data_; }
    /* The pages with the array, and those that nobody may touch. */
    Bytes pages() const { return {all_.begin + page_bytes, all_.end - page_bytes}; }
    Bytes all() const { return all_; }

private:
    static constexpr std::uintptr_t alignment = 64;

    Bytes all_, data_;
};

} // namespace ptsched::tasks

#endif /* PTSCHED_TASKS_CHECKED_GUARDED_HPP */
