/* SPDX-License-Identifier: MIT */
/* A function of the host that a kernel has called, and that waits for a call itself. */
#ifndef PTSCHED_ARENA_CALL_ASIDE_HPP
#define PTSCHED_ARENA_CALL_ASIDE_HPP

#include "libptsched/arena/call/impl.hpp"

namespace ptsched::arena::detail {

/* Of the calling thread; null: it does nothing for a kernel. */
inline thread_local const Serving *serving = nullptr;

class CallsImpl::Aside {
public:
    /* Throws Error if the wait would never end. */
    Aside(CallsImpl &calls, const Record &awaited, Duration most) : calls_(calls), hold_{no_record, &awaited}
    {
        if (!serving || most == Duration::zero())
            return;
        Server &server = serving->of.server_;
        if (server.is_looking() && !server.hand_over())
            throw Error("calls: the host's function '" + serving->function.name + "' cannot wait for '" +
                        awaited.target->name + "': " + std::to_string(server.most_threads()) +
                        " functions of the host wait already, and nobody would serve what the kernels call. Allow more "
                        "(CallOptions::host_threads)");
        if (&serving->of != &calls || most != for_ever || awaited.target->how.blocks || serving->record == no_record ||
            calls.records_.at(serving->record).target->how.blocks)
            return;
        hold_.record = serving->record;
        calls_.hold(hold_);
    }
    ~Aside()
    {
        if (hold_.record != no_record)
            calls_.let_go(hold_);
    }
    Aside(const Aside &) = delete;
    Aside &operator=(const Aside &) = delete;

private:
    CallsImpl &calls_;
    Hold hold_;
};

} // namespace ptsched::arena::detail

#endif /* PTSCHED_ARENA_CALL_ASIDE_HPP */
