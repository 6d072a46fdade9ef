/* SPDX-License-Identifier: MIT */
/* Datablocks between processes: memory that is passed as a descriptor, and the packets that pass it. */
#ifndef PTSCHED_PTASK_SHARED_MEMORY_HPP
#define PTSCHED_PTASK_SHARED_MEMORY_HPP

#include <ptsched/base/fd.hpp>
#include <ptsched/ptask/port.hpp>

#pragma GCC visibility push(default)

namespace ptsched::ptask {

/* Memory that becomes a datablock of another process; the one that makes it writes it. */
class SharedMemory {
public:
    explicit SharedMemory(std::size_t bytes);
    ~SharedMemory();
    SharedMemory(SharedMemory &&other) noexcept
        : fd_(std::move(other.fd_)), data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_)
    {
    }

    /* Null once it is sealed. */
    void *data() { return data_; }
    template <typename T> std::span<T> as() { return {static_cast<T *>(data_), data_ ? bytes_ / sizeof(T) : 0}; }
    std::size_t bytes() const { return bytes_; }
    /* It cannot be written or change its size any more. */
    UniqueFd seal() &&;
    /* What seal() gave, and nobody took. */
    void keep(UniqueFd &&sealed) { fd_ = std::move(sealed); }

private:
    void unmap();

    UniqueFd fd_;
    void *data_ = nullptr;
    std::size_t bytes_;
};

/* The content, copied from where it is: see Datablock::read_into(). */
SharedMemory shared_copy(Datablock &block);

} // namespace ptsched::ptask

#pragma GCC visibility pop

#endif /* PTSCHED_PTASK_SHARED_MEMORY_HPP */
