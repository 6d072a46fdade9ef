/* SPDX-License-Identifier: MIT */
/* Stacks between which a thread of the host switches by itself. */
#ifndef VGPU_LIBCUDA_FIBER_H
#define VGPU_LIBCUDA_FIBER_H

#include <cstddef>
#include <memory>

namespace vgpu {

/*
 * The stack that the calling thread has, or one of its own. As long as something is unfinished on a stack, only the
 * thread that began it may switch to it.
 */
class Fiber {
public:
    /* The caller's stack; made and used by one thread. */
    Fiber();
    /* A stack of its own, on which job() is called whenever it is switched to after the last call has returned. */
    explicit Fiber(void (*job)(Fiber &));
    ~Fiber();
    Fiber(const Fiber &) = delete;
    Fiber &operator=(const Fiber &) = delete;

    /* From this one, on which the caller runs; returns when something switches back. */
    void switch_to(Fiber &to);

    void *user = nullptr; /* whatever job() wants to know */

    /* One that is not in use, of any thread's; std::bad_alloc if there is no memory for another. */
    static std::unique_ptr<Fiber> take(void (*job)(Fiber &));
    static void give_back(std::unique_ptr<Fiber> fiber);
    /* Whether there may be so many more in use as a block has threads. */
    static bool may_take_more();

private:
    struct Begin;

    void arrive(Fiber &from, void *context);

    void (*job_)(Fiber &) = nullptr;
    void *memory_ = nullptr;  /* null: the thread's own */
    void *context_ = nullptr; /* where it goes on */
    Fiber *next_ = nullptr;   /* whom it has switched to */
    const void *bottom_ = nullptr;
    [[maybe_unused]] size_t bytes_ = 0;
    [[maybe_unused]] void *fake_stack_ = nullptr; /* the address sanitizer's */
    [[maybe_unused]] void *tsan_ = nullptr;
};

} // namespace vgpu

#endif /* VGPU_LIBCUDA_FIBER_H */
