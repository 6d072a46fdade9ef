/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_PTASK_GRAPH_CALL_HPP
#define PTSCHED_PTASK_GRAPH_CALL_HPP

#include <ptsched/ptask/graph.hpp>

namespace ptsched::ptask {

/* A call's insides. */
struct CallImpl : Call {
    std::size_t parameters() const { return bytes_of.size(); }
    std::size_t bytes(std::size_t parameter) const { return bytes_of[known(parameter)]; }
    std::size_t records(std::size_t parameter) const { return records_of[known(parameter)]; }
    /* The parameter; throws Error if there is none of that number. */
    std::size_t known(std::size_t parameter) const;

    const Arguments *given = nullptr;
    std::vector<std::size_t> bytes_of, records_of;
    Item signals;
};

inline CallImpl &impl(Call &call)
{
    return static_cast<CallImpl &>(call);
}

inline const CallImpl &impl(const Call &call)
{
    return static_cast<const CallImpl &>(call);
}

} // namespace ptsched::ptask

#endif /* PTSCHED_PTASK_GRAPH_CALL_HPP */
