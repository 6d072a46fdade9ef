// SPDX-License-Identifier: MIT
#include "libptsched/tasks/seen/picture.hpp"

#include "libptsched/base/dot.hpp"

namespace ptsched::tasks {

void Picture::add(const Task &task)
{
    Guard lock(mutex_);
    tasks_++;
    if (task.number <= most_tasks)
        nodes_.push_back({task.function ? task.attributes.name : nullptr, task.number,
                          task.parent ? task.parent->number : 0, task.runs_on_host, task.runs_on_gpu});
}

/* Who depends on a task was made later than that: then both are there. */
void Picture::add(const Task &task, const Task &on, const Access &access)
{
    Guard lock(mutex_);
    edges_++;
    if (task.number <= most_tasks && on.number <= most_tasks && arrows_.size() < most_edges)
        arrows_.push_back({on.number, task.number, access, !on.ended.is_over()});
}

std::string Picture::text(const Node &node)
{
    const std::string id = "t" + std::to_string(node.number);
    std::string text = "\t" + id;
    if (node.name) {
        const char *where = node.on_host && node.on_gpu ? "host or GPU" : node.on_gpu ? "GPU" : "host";
        text += " [label=\"" + dot_escaped(node.name, "\"\\") + "\\n" + std::to_string(node.number) + ", " + where +
                '"' + (node.on_gpu ? ", style=bold" : "") + "];\n";
    } else {
        text += " [shape=point];\n";
    }
    if (node.parent)
        text += "\tt" + std::to_string(node.parent) + " -> " + id + " [style=dotted, arrowhead=none];\n";
    return text;
}

std::string Picture::text(const Arrow &arrow)
{
    return "\tt" + std::to_string(arrow.from) + " -> t" + std::to_string(arrow.to) +
           " [label=" + dot_quoted(std::string(to_string(arrow.access.mode)) + " " + describe(arrow.access.range)) +
           (arrow.has_waited ? "" : ", style=dashed") + "];\n";
}

std::string Picture::note() const
{
    if (nodes_.size() == tasks_ && arrows_.size() == edges_)
        return {};
    const std::string cut = "cut: " + std::to_string(nodes_.size()) + " of " + std::to_string(tasks_) + " tasks, " +
                            std::to_string(arrows_.size()) + " of " + std::to_string(edges_) + " edges";
    return "\tcut [shape=note, label=" + dot_quoted(cut) + "];\n";
}

Picture::~Picture()
{
    Guard lock(mutex_);
    output_.write("/* Bold: on GPUs. Dashed: what it depends on had ended already. Dotted: has made. */\n"
                  "digraph tasks {\n\tnode [shape=box];\n" +
                  note());
    for (const Node &node : nodes_)
        output_.write(text(node));
    for (const Arrow &arrow : arrows_)
        output_.write(text(arrow));
    output_.write("}\n");
    output_.close();
}

} // namespace ptsched::tasks
