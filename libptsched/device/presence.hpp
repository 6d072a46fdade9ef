/* SPDX-License-Identifier: MIT */
/*
 * What the clients of this process that take turns for one requester on one device have in common: to the scheduler
 * they hold one turn, which is gone when the last of them has given it back.
 */
#ifndef PTSCHED_DEVICE_PRESENCE_HPP
#define PTSCHED_DEVICE_PRESENCE_HPP

#include "libptsched/base/linger.hpp"

#include <memory>
#include <string>
#include <sys/types.h>

namespace ptsched::device {

/* All times in ns, of any clock. */
class Presence {
public:
    /* The one of that device and requester, 0 for this process, as long as anybody has it. */
    static std::shared_ptr<Presence> of(const std::string &device, pid_t requester);

    /* A client that has asked at @asked has its turn. @usual as Linger has it. */
    void has_turn(std::uint64_t asked, std::uint64_t now, std::uint64_t usual);
    /* It has none any more. @called: the scheduler has called it back. */
    void has_no_turn(bool called);
    /* Nothing of a client is on the device. */
    void ended(std::uint64_t now);
    /* When that was last so of any. */
    std::uint64_t last_end() const { return last_end_.load(std::memory_order_relaxed); }
    /* How long the turn is kept with nothing on the device while another waits for it. */
    std::uint64_t linger(std::uint64_t usual) const { return linger_.ns(usual); }

private:
    std::atomic<unsigned> holders_{0};
    std::atomic<std::uint64_t> last_end_{0};
    Linger linger_;
};

} // namespace ptsched::device

#endif /* PTSCHED_DEVICE_PRESENCE_HPP */
