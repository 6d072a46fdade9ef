// SPDX-License-Identifier: MIT
#include "libptsched/pool/resident.hpp"

#include <ptsched/base/error.hpp>
#include <ptsched/device/turns.hpp>

#include <algorithm>
#include <cstring>

#ifdef PTSCHED_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif

namespace ptsched::pool {

namespace {

/* Aligned accesses of 16 bytes are whole on processors with AVX (Intel SDM 3A, 9.1.1; AMD64 APM 2, 7.3.2). */
Piece load_piece(const Piece *from)
{
    Piece piece;
    asm volatile("movdqa (%1), %%xmm0\n\tmovdqu %%xmm0, (%0)" : : "r"(&piece), "r"(from) : "xmm0", "memory");
#ifdef PTSCHED_THREAD_SANITIZER
    __tsan_acquire(const_cast<Piece *>(from));
#endif
    return piece;
}

void store_piece(Piece *to, const Piece &piece)
{
#ifdef PTSCHED_THREAD_SANITIZER
    __tsan_release(to);
#endif
    asm volatile("movdqu (%1), %%xmm0\n\tmovdqa %%xmm0, (%0)" : : "r"(to), "r"(&piece) : "xmm0", "memory");
}

std::size_t aligned(std::size_t bytes)
{
    return (bytes + 255) / 256 * 256;
}

} // namespace

Resident::Resident(device::Device &device, std::unique_ptr<device::Code> code, const Shape &shape)
    : device_(device), code_(std::move(code)), shape_(shape), pieces_(pieces_of(shape.task_bytes)),
      queue_(device.make_queue()),
      shared_(device::Allocation::pinned(
          2 * aligned(std::size_t{shape.blocks} * shape.depth * pieces_ * sizeof(Piece)) + aligned(sizeof(Notice)) +
          2 * aligned(shape.blocks * sizeof(unsigned)))),
      lodge_(device::Allocation::on_device(device, sizeof(Lodge))), memory_(static_cast<std::byte *>(shared_.host_address())),
      blocks_(shape.blocks), labels_(std::size_t{shape.blocks} * shape.depth), loads_(shape.depth + 1, none)
{
    results_at_ = aligned(std::size_t{shape.blocks} * shape.depth * pieces_ * sizeof(Piece));
    notice_at_ = 2 * results_at_;
    present_at_ = notice_at_ + aligned(sizeof(Notice));
    first_at_ = present_at_ + aligned(shape.blocks * sizeof(unsigned));
    std::memset(memory_, 0, shared_.bytes());
}

void Resident::start()
{
    auto *first = reinterpret_cast<unsigned *>(memory_ + first_at_);
    for (unsigned block = 0; block < shape_.blocks; block++)
        first[block] = blocks_[block].collected + 1;
    absent_ = shape_.blocks;
    leaving_ = false;
    run_++;
    const Lodge empty{};
    const device::Address base = shared_.address();
    Slots slots{};
    slots.tasks = static_cast<const Piece *>(device::host_pointer(base));
    slots.results = static_cast<Piece *>(device::host_pointer(base + results_at_));
    slots.notice = static_cast<const Notice *>(device::host_pointer(base + notice_at_));
    slots.present = static_cast<unsigned *>(device::host_pointer(base + present_at_));
    slots.first = static_cast<const unsigned *>(device::host_pointer(base + first_at_));
    slots.lodge = static_cast<Lodge *>(device::host_pointer(lodge_.address()));
    slots.depth = shape_.depth;
    slots.pieces = pieces_;
    slots.run = run_;
    const device::Exempt exempt;
    queue_->upload(lodge_.address(), &empty, sizeof(empty));
    queue_->run(*code_, {{shape_.blocks, 1, 1}, {shape_.threads, 1, 1}, shape_.shared_bytes}, {&slots});
    end_ = queue_->mark();
}

void Resident::leave()
{
    if (!end_ || leaving_)
        return;
    leaving_ = true;
    /* The bell, for those that are in the lodge. */
    store_piece(reinterpret_cast<Piece *>(memory_ + notice_at_), {{++bell_, 0, run_}, 0});
}

bool Resident::is_there()
{
    if (!end_)
        return false;
    if (!end_->reached())
        return true;
    ended();
    return false;
}

/* What was given and not done stays in its slots, and what is done is there before the kernel's end is. */
void Resident::ended()
{
    end_.reset();
    std::fill(loads_.begin(), loads_.end(), none);
    for (Block &block : blocks_)
        block.present = false;
    absent_ = 0;
}

bool Resident::has_room()
{
    if (!end_ || leaving_)
        return false;
    if (absent_)
        admit();
    for (unsigned load = 0; load < shape_.depth; load++)
        if (loads_[load] != none)
            return true;
    return false;
}

void Resident::admit()
{
    auto *present = reinterpret_cast<unsigned *>(memory_ + present_at_);
    for (unsigned block = 0; block < shape_.blocks; block++) {
        if (blocks_[block].present || __atomic_load_n(present + block, __ATOMIC_ACQUIRE) != run_)
            continue;
        blocks_[block].present = true;
        absent_--;
        link(block);
    }
}

void Resident::give(const std::byte *task, const Label &label)
{
    unsigned load = 0;
    while (loads_[load] == none)
        load++;
    const unsigned block = loads_[load];
    Block &to = blocks_[block];
    unlink(block);
    const unsigned number = ++to.given, tag = make_tag(number, label.kind);
    link(block);
    labels_[block * shape_.depth + number % shape_.depth] = label;
    Piece *piece = pieces(0, block, number);
    const std::size_t bytes = shape_.task_bytes;
    for (std::size_t at = 0; at < bytes; at += bytes_of_piece, piece++) {
        Piece one{{}, tag};
        std::memcpy(one.words, task + at, std::min<std::size_t>(bytes_of_piece, bytes - at));
        store_piece(piece, one);
    }
    in_flight_++;
    if (load == 0)
        store_piece(reinterpret_cast<Piece *>(memory_ + notice_at_), {{++bell_, block + 1, 0}, 0});
}

Piece *Resident::pieces(std::size_t base, unsigned block, unsigned number) const
{
    const std::size_t slot = std::size_t{block} * shape_.depth + number % shape_.depth;
    return reinterpret_cast<Piece *>(memory_ + base) + slot * pieces_;
}

bool Resident::has_result(unsigned block) const
{
    const unsigned number = blocks_[block].collected + 1;
    const Piece *piece = pieces(results_at_, block, number);
    for (unsigned i = 0; i < pieces_; i++)
        if (!is_of(load_piece(piece + i).tag, number))
            return false;
    return true;
}

void Resident::copy_result(unsigned block, std::byte *to) const
{
    const Piece *piece = pieces(results_at_, block, blocks_[block].collected + 1);
    const std::size_t bytes = shape_.task_bytes;
    for (std::size_t at = 0; at < bytes; at += bytes_of_piece, piece++) {
        const Piece one = load_piece(piece);
        std::memcpy(to + at, one.words, std::min<std::size_t>(bytes_of_piece, bytes - at));
    }
}

/* Those that have just come to a load are the first to get more: they still look at their slots. */
void Resident::link(unsigned block)
{
    unsigned &head = loads_[load_of(block)];
    blocks_[block].before = none;
    blocks_[block].behind = head;
    if (head != none)
        blocks_[head].before = block;
    head = block;
}

void Resident::unlink(unsigned block)
{
    const Block &one = blocks_[block];
    if (one.before == none)
        loads_[load_of(block)] = one.behind;
    else
        blocks_[one.before].behind = one.behind;
    if (one.behind != none)
        blocks_[one.behind].before = one.before;
}

std::string Resident::describe_begun() const
{
    constexpr unsigned most = 4;
    std::string text;
    unsigned found = 0;
    for (unsigned block = 0; block < shape_.blocks; block++) {
        if (!load_of(block) || has_result(block) || ++found > most)
            continue;
        const unsigned number = blocks_[block].collected + 1;
        const Label &label = labels_[block * shape_.depth + number % shape_.depth];
        text += (found > 1 ? "; task " : "task ") + std::to_string(label.number) + " of output " +
                std::to_string(label.output) + ", of kind " + std::to_string(label.kind) + ", in block " +
                std::to_string(block);
    }
    if (found > most)
        text += "; and " + std::to_string(found - most) + " more";
    return found ? text : "no task had been given";
}

} // namespace ptsched::pool
