/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_TASKS_CHECKED_BYTES_HPP
#define PTSCHED_TASKS_CHECKED_BYTES_HPP

#include <ptsched/tasks/range.hpp>

#include <vector>

namespace ptsched::tasks {

constexpr std::uintptr_t page_bytes = 4096;

/* Of memory, by addresses. */
struct Bytes {
    std::uintptr_t begin, end;

    bool has(std::uintptr_t address) const { return begin <= address && address < end; }
    std::byte *data() const { return reinterpret_cast<std::byte *>(begin); }
    std::size_t size() const { return end - begin; }
};

/* Any bytes of memory, as stretches in order that do not touch each other. */
class ByteSet {
public:
    void add(const Range &range);
    void add(Bytes bytes) { stretches_.push_back(bytes); }
    /* To be called when all have been added. */
    void sort();

    ByteSet without(const ByteSet &other) const;
    ByteSet within(const ByteSet &other) const;
    /* The pages of which it has all bytes, and those of which it has any. */
    ByteSet whole_pages() const;
    ByteSet touched_pages() const;

    bool empty() const { return stretches_.empty(); }
    auto begin() const { return stretches_.begin(); }
    auto end() const { return stretches_.end(); }
    /* The stretch with that byte; null: none. */
    const Bytes *find(std::uintptr_t address) const;

private:
    std::vector<Bytes> stretches_;
};

} // namespace ptsched::tasks

#endif /* PTSCHED_TASKS_CHECKED_BYTES_HPP */
