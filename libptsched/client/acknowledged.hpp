/* SPDX-License-Identifier: MIT */
/* What a thread that looks after a client's turns has acknowledged; its own, without a lock. */
#ifndef PTSCHED_CLIENT_ACKNOWLEDGED_HPP
#define PTSCHED_CLIENT_ACKNOWLEDGED_HPP

#include <ptsched/ptsched.h>

#include <cstdint>
#include <utility>

namespace ptsched {

class Acknowledged {
public:
    /* The client's descriptor was, or was not, readable. */
    void set_called(bool called) { called_ = called; }

    /* Acknowledges @events with what @drain_ns() says, if there is need to; whether there was. */
    template <typename Function> bool acknowledge(ptsched_client *client, std::uint32_t events, Function drain_ns)
    {
        /* Also where there is no news: else what called would go on to. */
        if (!std::exchange(called_, false) && events == events_)
            return false;
        ptsched_ack(client, events, drain_ns());
        events_ = events;
        return true;
    }

private:
    std::uint32_t events_ = 0;
    bool called_ = false;
};

} // namespace ptsched

#endif
