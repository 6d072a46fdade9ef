/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_PTASK_GRAPH_SETS_HPP
#define PTSCHED_PTASK_GRAPH_SETS_HPP

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace ptsched::ptask {

/* Which elements belong together: each leads to another of its set, the first of all to itself. */
class Sets {
public:
    explicit Sets(std::size_t count) : leads_to_(count) { std::iota(leads_to_.begin(), leads_to_.end(), 0); }

    std::size_t first_of(std::size_t element)
    {
        while (leads_to_[element] != element)
            element = leads_to_[element] = leads_to_[leads_to_[element]];
        return element;
    }
    void join(std::size_t a, std::size_t b)
    {
        a = first_of(a);
        b = first_of(b);
        leads_to_[std::max(a, b)] = std::min(a, b);
    }

private:
    std::vector<std::size_t> leads_to_;
};

} // namespace ptsched::ptask

#endif /* PTSCHED_PTASK_GRAPH_SETS_HPP */
