/* SPDX-License-Identifier: MIT */
/*
 * The memories behind the addresses of a window: at each address the host has one, and the GPUs another. A process has
 * one address space for all of its GPUs, so that what they see at an address is one memory, of the first of them, which
 * its peers reach. Offsets are from the window's begin.
 */
#ifndef PTSCHED_ARENA_WINDOW_MEMORY_HPP
#define PTSCHED_ARENA_WINDOW_MEMORY_HPP

#include <ptsched/device/device.hpp>

#include <cstddef>

namespace ptsched::arena {

/* Of what is kept coherent, and of which arenas are made. A multiple of the processor's pages. */
constexpr std::size_t page_bytes = 64 << 10;

/* Of the host, at the common addresses. */
enum class Rights { none, read, write /* and read */ };

class Memories {
public:
    virtual ~Memories() = default;
    /* The host's memory at the common address: where rights are missing, an access there is a SIGSEGV. */
    virtual std::byte *view() = 0;
    /* The same memory at another address, with all rights, where queues copy it from and to. */
    virtual std::byte *alias() = 0;
    /* Of addresses. There is memory behind those that were made(). */
    virtual std::size_t bytes() const = 0;
    /* Whether there is memory behind all of that range; grows, and stays. Callable in a handler of SIGSEGV. */
    virtual bool made(std::size_t offset, std::size_t bytes) const noexcept = 0;
    /* At least one. */
    virtual unsigned gpus() const = 0;
    virtual device::Device &gpu(unsigned n) = 0;
    /* The same number as view() + @offset: the GPUs' memory, which queues of gpu(0) copy. */
    virtual device::Address on_gpu(std::size_t offset) = 0;
    /*
     * Of the view, which begins with none. Both in multiples of page_bytes. Callable in a handler of SIGSEGV, on any
     * thread at once; ends the process if the kernel refuses it.
     */
    virtual void protect(std::size_t offset, std::size_t bytes, Rights rights) noexcept = 0;
};

} // namespace ptsched::arena

#endif /* PTSCHED_ARENA_WINDOW_MEMORY_HPP */
