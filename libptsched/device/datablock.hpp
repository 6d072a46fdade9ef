/* SPDX-License-Identifier: MIT */
/*
 * A logical buffer with copies in the memories where it was needed (PTask, SOSP'11, 3.3 and 5.2). A copy is absent, in
 * transfer or being written (its marker says until when), or valid. A block that one has been written is never written
 * again, so all its copies agree.
 */
#ifndef PTSCHED_DEVICE_DATABLOCK_HPP
#define PTSCHED_DEVICE_DATABLOCK_HPP

#include "device.hpp"

#include <mutex>
#include <span>

namespace ptsched::device {

class Datablock;
using DatablockPtr = std::shared_ptr<Datablock>;

/*
 * Thread-safe. Who gives a queue work that uses a block keeps the pointer until that work is done: the last pointer
 * gives the memory back.
 */
class Datablock {
public:
    /* With a copy of @bytes at @data, on the host. */
    static DatablockPtr of(const void *data, std::size_t bytes);
    template <typename T> static DatablockPtr of(std::span<const T> values)
    {
        return of(values.data(), values.size_bytes());
    }
    /* To be written by produce(). */
    static DatablockPtr empty(std::size_t bytes) { return std::make_shared<Datablock>(bytes); }

    explicit Datablock(std::size_t bytes) : bytes_(bytes) {}
    ~Datablock();
    Datablock(const Datablock &) = delete;
    Datablock &operator=(const Datablock &) = delete;

    std::size_t bytes() const { return bytes_; }
    /* Whether it has been written, or will be by work that a queue has. */
    bool has_content() const;

    /* The content, on the host. Blocks until it is there; throws Error if what produces it fails. */
    const void *read();
    template <typename T> std::span<const T> as() { return {static_cast<const T *>(read()), bytes_ / sizeof(T)}; }

    /* How much would have to be moved for use() there. */
    std::size_t missing(const Device &device) const;
    /* An address that is valid for work given to @queue after this. */
    Address use(Device &device, Queue &queue);
    /* An address that work given to @queue after this writes; then @written is to be called, once. */
    Address produce(Device &device, Queue &queue);
    void written(const MarkerPtr &marker);
    /* Where the work that writes it is, or null: what follows it there need not wait. */
    const Queue *queue() const;

private:
    struct Copy {
        Device *device;
        Address address;
        MarkerPtr ready; /* null: valid, for all that anybody knows */
        const Queue *queue;
    };

    Copy *find(const Device &device);
    const Copy *find(const Device &device) const { return const_cast<Datablock *>(this)->find(device); }
    Copy &add(Device &device, const Queue *queue);
    Copy &on_host();

    const std::size_t bytes_;
    mutable std::mutex mutex_; /* protects what follows */
    std::vector<Copy> copies_; /* the first has been written, the others are its copies */
};

} // namespace ptsched::device

#endif /* PTSCHED_DEVICE_DATABLOCK_HPP */
