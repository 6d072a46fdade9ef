// SPDX-License-Identifier: MIT
/*
 * Stacks by Boost.Context, whose switches take no call of the kernel and leave the mask of signals alone; and what
 * sanitizers want to be told of them.
 */
#include "tests/vgpu/libcuda/fiber.h"

#include "libptsched/base/lock.hpp"
#include "tests/sanitizers.h"

#include <boost/context/detail/fcontext.hpp>
#include <cstdint>
#include <new>
#include <sys/mman.h>
#include <vector>

#ifdef PTSCHED_TEST_ASAN
#include <sanitizer/asan_interface.h>
#endif
#ifdef PTSCHED_TEST_TSAN
#include <sanitizer/tsan_interface.h>
#endif

namespace vgpu {

namespace {

namespace context = boost::context::detail;

/* A CUDA thread has a kilobyte unless told otherwise; what is not touched takes no memory. */
constexpr std::size_t stack_bytes = 256 << 10, guard_bytes = 4096;

/* The thread sanitizer takes eight mappings for each, and the kernel allows a process 65,530 of them. */
#ifdef PTSCHED_TEST_TSAN
constexpr std::size_t many = 4096;
#else
constexpr std::size_t many = SIZE_MAX;
#endif

struct Pool {
    ptsched::Mutex lock;
    std::vector<std::unique_ptr<Fiber>> idle PTSCHED_GUARDED_BY(lock);
    std::size_t in_use PTSCHED_GUARDED_BY(lock) = 0;
};

/* Never destroyed: workers may outlive main(). */
Pool &pool()
{
    static Pool &made = *new Pool;
    return made;
}

} // namespace

struct Fiber::Begin {
    static void run(context::transfer_t transfer)
    {
        auto *from = static_cast<Fiber *>(transfer.data);
        Fiber &self = *from->next_;
        self.arrive(*from, transfer.fctx);
        for (;;)
            self.job_(self);
    }
};

Fiber::Fiber()
{
#ifdef PTSCHED_TEST_TSAN
    tsan_ = __tsan_get_current_fiber();
#endif
}

Fiber::Fiber(void (*job)(Fiber &)) : job_(job), bytes_(stack_bytes)
{
    memory_ = mmap(nullptr, stack_bytes + guard_bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (memory_ == MAP_FAILED)
        throw std::bad_alloc();
    /* Where the kernel allows no more mappings, it does without. */
    mprotect(memory_, guard_bytes, PROT_NONE);
    bottom_ = static_cast<char *>(memory_) + guard_bytes;
    context_ =
        context::make_fcontext(static_cast<char *>(memory_) + guard_bytes + stack_bytes, stack_bytes, Begin::run);
#ifdef PTSCHED_TEST_ASAN
    /* A thread's stack may have been here, which its frames have left as it was. */
    __asan_unpoison_memory_region(bottom_, stack_bytes);
#endif
#ifdef PTSCHED_TEST_TSAN
    tsan_ = __tsan_create_fiber(0);
#endif
}

Fiber::~Fiber()
{
    if (!memory_)
        return;
#ifdef PTSCHED_TEST_TSAN
    __tsan_destroy_fiber(tsan_);
#endif
    munmap(memory_, stack_bytes + guard_bytes);
}

void Fiber::switch_to(Fiber &to)
{
    next_ = &to;
#ifdef PTSCHED_TEST_ASAN
    __sanitizer_start_switch_fiber(&fake_stack_, to.bottom_, to.bytes_);
#endif
#ifdef PTSCHED_TEST_TSAN
    __tsan_switch_to_fiber(to.tsan_, 0);
#endif
    const context::transfer_t transfer = context::jump_fcontext(to.context_, this);
    arrive(*static_cast<Fiber *>(transfer.data), transfer.fctx);
}

void Fiber::arrive(Fiber &from, void *context)
{
    from.context_ = context;
#ifdef PTSCHED_TEST_ASAN
    __sanitizer_finish_switch_fiber(fake_stack_, &from.bottom_, &from.bytes_);
#endif
}

std::unique_ptr<Fiber> Fiber::take(void (*job)(Fiber &))
{
    const ptsched::Guard lock(pool().lock);
    std::unique_ptr<Fiber> fiber;
    if (pool().idle.empty()) {
        fiber = std::make_unique<Fiber>(job);
    } else {
        fiber = std::move(pool().idle.back());
        pool().idle.pop_back();
        fiber->job_ = job;
    }
    pool().in_use++;
    return fiber;
}

void Fiber::give_back(std::unique_ptr<Fiber> fiber)
{
    const ptsched::Guard lock(pool().lock);
    pool().idle.push_back(std::move(fiber));
    pool().in_use--;
}

bool Fiber::may_take_more()
{
    const ptsched::Guard lock(pool().lock);
    return pool().in_use < many;
}

} // namespace vgpu
