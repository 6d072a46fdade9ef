// SPDX-License-Identifier: MIT
#include "samples/ptask/paper/plan.hpp"

#include <algorithm>
#include <set>

namespace ptsched::paper {

namespace {

/* An operation, and the earlier ones that it needs. */
struct Node {
    Operation::Kind kind;
    std::size_t what;
    unsigned stream;
    std::vector<std::size_t> needs;
};

/*
 * A step goes on where one of its inputs was written, if nobody else does so; if there is a choice, and for a step that
 * does not, it is the stream with the fewest steps.
 */
class Placement {
public:
    Placement(const Workload &workload, unsigned streams)
        : workload_(workload), writer_(writers(workload)), steps_(streams), stream_(workload.steps.size()),
          continued_(workload.steps.size())
    {
    }

    unsigned place(std::size_t step)
    {
        std::size_t from = none_writes;
        for (ValueId value : workload_.steps[step].inputs) {
            std::size_t other = writer_[value];
            if (other != none_writes && !continued_[other] &&
                (from == none_writes || steps_[stream_[other]] < steps_[stream_[from]]))
                from = other;
        }
        auto fewest = std::min_element(steps_.begin(), steps_.end()) - steps_.begin();
        stream_[step] = from == none_writes ? static_cast<unsigned>(fewest) : stream_[from];
        if (from != none_writes)
            continued_[from] = true;
        steps_[stream_[step]]++;
        return stream_[step];
    }

private:
    const Workload &workload_;
    std::vector<std::size_t> writer_;
    std::vector<std::size_t> steps_; /* by stream */
    std::vector<unsigned> stream_;   /* by step */
    std::vector<bool> continued_;    /* by step: another follows it on its stream */
};

std::vector<Node> order(const Workload &workload, unsigned streams, bool own_copy_streams)
{
    std::vector<Node> nodes;
    std::vector<std::size_t> source(workload.values.size(), none_writes); /* the node that puts it on the device */
    std::set<ValueId> results(workload.results.begin(), workload.results.end());
    Placement placement(workload, streams);

    for (std::size_t step = 0; step < workload.steps.size(); step++) {
        unsigned stream = placement.place(step);
        Node launch{Operation::launch, step, stream, {}};
        for (ValueId value : workload.steps[step].inputs) {
            if (workload.values[value].is_input() && workload.inputs_stay)
                continue;
            if (source[value] == none_writes) {
                source[value] = nodes.size();
                nodes.push_back({Operation::upload, value, own_copy_streams ? streams : stream, {}});
            }
            launch.needs.push_back(source[value]);
        }
        std::size_t here = nodes.size();
        nodes.push_back(std::move(launch));
        for (ValueId value : workload.steps[step].outputs) {
            source[value] = here;
            if (results.count(value) && !workload.results_stay)
                nodes.push_back({Operation::download, value, own_copy_streams ? streams + 1 : stream, {here}});
        }
    }
    return nodes;
}

/* For each node those of other streams that it has to wait for, and that its stream does not know to have ended. */
std::vector<std::vector<std::size_t>> needed_waits(const std::vector<Node> &nodes, unsigned streams)
{
    constexpr std::size_t none = 0;
    std::vector<std::vector<std::size_t>> waits(nodes.size());
    std::vector<std::vector<std::size_t>> ended(streams, std::vector<std::size_t>(streams, none)); /* 1 + its number */

    for (std::size_t i = 0; i < nodes.size(); i++) {
        std::vector<std::size_t> needs = nodes[i].needs;
        std::sort(needs.rbegin(), needs.rend()); /* the last of a stream covers the others */
        for (std::size_t other : needs) {
            std::size_t &known = ended[nodes[i].stream][nodes[other].stream];
            if (nodes[other].stream == nodes[i].stream || known > other)
                continue;
            waits[i].push_back(other);
            known = other + 1;
        }
    }
    return waits;
}

} // namespace

Plan::Plan(const Workload &workload, unsigned streams, bool own_copy_streams)
{
    auto nodes = order(workload, streams, own_copy_streams);
    unsigned all = streams + (own_copy_streams ? 2 : 0);
    auto waits = needed_waits(nodes, all);
    std::vector<std::size_t> event(nodes.size(), none_writes);
    std::vector<std::size_t> last(all, none_writes);

    for (const auto &some : waits)
        for (std::size_t other : some)
            if (event[other] == none_writes)
                event[other] = events++;
    for (std::size_t i = 0; i < nodes.size(); i++) {
        for (std::size_t other : waits[i])
            operations.push_back({Operation::wait, event[other], nodes[i].stream});
        operations.push_back({nodes[i].kind, nodes[i].what, nodes[i].stream});
        if (event[i] != none_writes)
            operations.push_back({Operation::record, event[i], nodes[i].stream});
        last[nodes[i].stream] = i;
    }
    for (unsigned stream = 0; stream < all; stream++) {
        if (stream == 0 || last[stream] != none_writes)
            used.push_back(stream);
        if (last[stream] != none_writes && event[last[stream]] == none_writes)
            ends.push_back(stream);
    }
}

} // namespace ptsched::paper
