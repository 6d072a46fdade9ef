/* SPDX-License-Identifier: MIT */
/*
 * The memories behind the addresses of a window: at each address the host has one, and every GPU another. Offsets are
 * from the window's begin. What is said of some bytes holds for whole pages.
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
    virtual std::size_t bytes() const = 0;
    virtual unsigned gpus() const = 0;
    virtual device::Device &gpu(unsigned n) = 0;
    /* The same number as view() + @offset: a GPU's own memory is there. */
    virtual device::Address on_gpu(unsigned n, std::size_t offset) = 0;
    /*
     * Of the view, which begins with all. Both in multiples of page_bytes. Callable in a handler of SIGSEGV, on any
     * thread at once; ends the process if the kernel refuses it.
     */
    virtual void protect(std::size_t offset, std::size_t bytes, Rights rights) noexcept = 0;
};

} // namespace ptsched::arena

#endif /* PTSCHED_ARENA_WINDOW_MEMORY_HPP */
