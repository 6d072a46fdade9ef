/* SPDX-License-Identifier: MIT */
/* A thread of ours that asks for a device's turns, since the program may have none that submits, or must not wait. */
#ifndef PTSCHED_PRELOAD_TURN_ASKER_HPP
#define PTSCHED_PRELOAD_TURN_ASKER_HPP

#include <atomic>
#include <cstdint>

namespace ptsched::preload {

class Attachment;

class Asker {
public:
    /* What it does each time; false: it is to be done again. */
    using Errand = bool (*)(Attachment &device);
    Asker(Attachment &device, Errand errand) : device_(device), errand_(errand) {}
    Asker(const Asker &) = delete;
    Asker &operator=(const Asker &) = delete;

    /* Unless it has been. False: not possible. */
    bool start();

    /* For the next turn: what is off shall go on. */
    void ask();
    /* The same for a submission that went ahead of it; false: there is no such thread. */
    bool ask_behind();

private:
    static void *run(void *asker);

    Attachment &device_;
    const Errand errand_;
    std::atomic<bool> started_{false};
    std::atomic<std::uint32_t> questions_{0}; /* what it waits for */
};

} // namespace ptsched::preload

#endif
