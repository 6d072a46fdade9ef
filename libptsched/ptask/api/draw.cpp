// SPDX-License-Identifier: MIT
#include "libptsched/base/dot.hpp"
#include "libptsched/ptask/api/graph.hpp"
#include <ptsched/ptask/draw.hpp>

namespace ptsched::ptask {

namespace {

/* Of a label with several. */
std::string field(const std::string &text)
{
    return dot_escaped(text, "\"\\{}|<> ");
}

/* "in_" for a port where something enters, "out_" for one where something leaves. */
std::string fields(const Task &task, bool (Port::*has)() const, const std::string &prefix)
{
    std::string out;
    for (const auto &port : task.ports())
        if ((*port.*has)())
            out += (out.empty() ? "<" : "|<") + prefix + std::to_string(port->index()) + "> " +
                   field(port->options().name);
    return "{" + out + "}";
}

std::string end_of(const Port &port, const std::string &prefix)
{
    return dot_quoted(port.task().name()) + ":" + prefix + std::to_string(port.index());
}

} // namespace

std::string draw(const Graph &graph)
{
    std::string out = "digraph ptask {\n\tnode [shape=record];\n";
    unsigned ends = 0;

    for (const auto &task : graph.tasks())
        out += "\t" + dot_quoted(task->name()) + " [label=\"{" + fields(*task, &Port::takes, "in_") + "|" +
               field(task->name()) + "|" + fields(*task, &Port::gives, "out_") + "}\"" +
               (task->is_on_host() ? "" : ", style=bold") + (task->lowered() ? ", color=blue" : "") + "];\n";
    for (const auto &channel : GraphImpl::of(graph).channels_) {
        const PortImpl *from = channel->source, *to = channel->destination;
        std::string world = "world" + std::to_string(ends);
        if (!from || !to) {
            ends++;
            out += "\t" + world + " [shape=point];\n";
        }
        out += "\t" + (from ? end_of(*from, "out_") : world) + " -> " + (to ? end_of(*to, "in_") : world) +
               " [label=" + dot_quoted(channel->port().form.describe()) + (channel->is_loop ? ", style=dashed" : "") +
               "];\n";
    }
    return out + "}\n";
}

} // namespace ptsched::ptask
