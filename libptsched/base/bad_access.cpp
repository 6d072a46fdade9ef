// SPDX-License-Identifier: MIT
#include "libptsched/base/bad_access.hpp"

#include "libptsched/base/lock.hpp"
#include <ptsched/base/error.hpp>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <string>
#include <thread>
#include <ucontext.h>

namespace ptsched {

namespace {

struct Slot {
    std::atomic<BadAccessHandler::Function> function{nullptr}; /* null: free, or to be soon */
    std::atomic<void *> self{nullptr};
    std::atomic<unsigned> calls{0};
    bool is_taken = false;
};

Slot slots[BadAccessHandler::most];
Mutex mutex;
/* Who handled the signal before, when this came first, and when it came back. */
struct sigaction first, latest;
std::atomic<bool> is_installed{false};
/*
 * The signal that this thread has passed on, and by which call. Called once more for the same one, from further down
 * the stack, it is by whom it was passed to, who found this handler there before. If that call was left by a jump, the
 * next signal may be at the same place, but not further down.
 */
struct Passed {
    const void *context;
    const void *frame;
};
[[gnu::tls_model("initial-exec")]] thread_local Passed passed{};

void pass_on(int signal, siginfo_t *info, void *context, const void *frame)
{
    const bool comes_back = context == passed.context && frame < passed.frame;
    const struct sigaction &to = comes_back ? first : latest;
    if (!comes_back)
        passed = {context, frame};
    if (to.sa_flags & SA_SIGINFO)
        return to.sa_sigaction(signal, info, context);
    if (to.sa_handler != SIG_DFL && to.sa_handler != SIG_IGN)
        return to.sa_handler(signal);
    /* It comes again when this returns, and ends the process where it happened. */
    sigaction(signal, &to, nullptr);
    if (info->si_code <= 0)
        raise(signal);
}

bool ask(Slot &slot, const BadAccess &access)
{
    if (!slot.function.load(std::memory_order_relaxed))
        return false;
    slot.calls.fetch_add(1);
    const BadAccessHandler::Function function = slot.function.load();
    const bool is_its_own = function && function(slot.self.load(std::memory_order_relaxed), access);
    slot.calls.fetch_sub(1);
    return is_its_own;
}

void on_signal(int signal, siginfo_t *info, void *context)
{
    const int error = errno;
    const BadAccess access{reinterpret_cast<std::uintptr_t>(info->si_addr),
                           (static_cast<ucontext_t *>(context)->uc_mcontext.gregs[REG_ERR] & 2) != 0};
    bool is_done = false;
    if (info->si_code == SEGV_ACCERR)
        for (Slot &slot : slots)
            if ((is_done = ask(slot, access)))
                break;
    if (!is_done)
        pass_on(signal, info, context, __builtin_frame_address(0));
    errno = error;
}

/* Each time: others may have come in between. */
void install() PTSCHED_REQUIRES(mutex)
{
    struct sigaction ours {
    }, now{};
    ours.sa_sigaction = on_signal;
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    sigemptyset(&ours.sa_mask);
    sigaction(SIGSEGV, nullptr, &now);
    if (now.sa_flags & SA_SIGINFO && now.sa_sigaction == on_signal)
        return;
    if (!is_installed.exchange(true))
        first = now;
    latest = now;
    sigaction(SIGSEGV, &ours, nullptr);
}

} // namespace

BadAccessHandler::BadAccessHandler(Function function, void *self)
{
    Guard lock(mutex);
    for (slot_ = 0; slot_ < most && slots[slot_].is_taken; slot_++)
        ;
    if (slot_ == most)
        throw Error("there are " + std::to_string(most) +
                    " handlers of accesses already, which is as many as there may be");
    slots[slot_].is_taken = true;
    slots[slot_].self.store(self, std::memory_order_relaxed);
    slots[slot_].function.store(function);
    install();
}

BadAccessHandler::~BadAccessHandler()
{
    Slot &slot = slots[slot_];
    slot.function.store(nullptr);
    while (slot.calls.load())
        std::this_thread::yield();
    Guard lock(mutex);
    slot.is_taken = false;
}

} // namespace ptsched
