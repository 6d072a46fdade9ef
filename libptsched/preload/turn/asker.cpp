// SPDX-License-Identifier: MIT
#include "libptsched/preload/turn/asker.hpp"

#include "libptsched/base/be_prompt.hpp"
#include "libptsched/base/time_calls.hpp"
#include "libptsched/preload/common/exiting.hpp"
#include "libptsched/preload/common/thread.hpp"
#include "libptsched/preload/turn/attachment.hpp"

#include <pthread.h>
#include <unistd.h>

namespace ptsched::preload {

bool Asker::start()
{
    if (!started_)
        started_ = start_own_thread(run, this);
    return started_;
}

void Asker::ask()
{
    questions_.fetch_add(1, std::memory_order_release);
    wake_waiters(questions_);
}

bool Asker::ask_behind()
{
    if (!started_.load(std::memory_order_acquire))
        return false;
    ask();
    return true;
}

void *Asker::run(void *asker)
{
    auto &self = *static_cast<Asker *>(asker);
    std::uint32_t done = 0;

    pthread_setname_np(pthread_self(), "ptsched-asker");
    /* The device turns to what went ahead of the question by itself, but not always soon. */
    be_prompt();
    SleepingPlace place;
    while (!exiting.load(std::memory_order_acquire)) {
        std::uint32_t questions = self.questions_.load(std::memory_order_acquire);
        if (questions == done) {
            place.avoid(self.device_.submitters_cpu());
            wait_while(self.questions_, questions, kNoLimit);
        } else if (self.errand_(self.device_)) {
            done = questions;
        }
    }
    for (;;)
        pause();
}

} // namespace ptsched::preload
