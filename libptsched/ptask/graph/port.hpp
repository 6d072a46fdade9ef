/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_PTASK_GRAPH_PORT_HPP
#define PTSCHED_PTASK_GRAPH_PORT_HPP

#include "libptsched/ptask/graph/graph_lock.hpp"
#include <ptsched/ptask/graph.hpp>

namespace ptsched::ptask {

struct TaskImpl;
struct Channel;

/* What the insides know of a port. What they ask often is inline, and hides the public function. */
struct alignas(64) PortImpl : Port {
    const PortOptions &options() const { return options_; }
    bool takes() const { return kind_ != PortKind::output; }
    bool gives() const { return kind_ == PortKind::output || kind_ == PortKind::inout; }
    bool is_parameter() const { return kind_ != PortKind::metadata && kind_ != PortKind::condition; }
    bool is_moved() const { return is_parameter() && binding_ != Binding::by_value; }
    bool is_variable() const { return variable_; }
    std::size_t index() const { return index_; }
    std::size_t records(const Datablock &block) const { return options_.form.records(block.bytes()); }
    const TaskImpl &task() const { return task_; }

    PortImpl(TaskImpl &task, PortOptions options, std::size_t index)
        : task_(task), index_(static_cast<unsigned>(index)), kind_(options.kind), binding_(options.form.binding),
          begins_(options.initial != nullptr), bytes_(options.size_from.empty() ? options.form.bytes() : by_other_),
          options_(std::move(options))
    {
    }

    /* What each run uses is in front: of a graph of thousands of tasks, most is in no cache. */
    TaskImpl &task_;
    Channel *from_ = nullptr;
    Channel *loop_ = nullptr; /* from the end of a loop that begins here */
    std::vector<Channel *> to_;
    unsigned index_;
    const PortKind kind_;   /* as in the options */
    const Binding binding_; /* as in the options */
    bool read_ = false;
    bool variable_ = false;
    bool looping_ PTASK_GUARDED = false; /* what was taken from outside the loop has not left it */
    const bool begins_;                  /* has an initial block */
    static constexpr std::size_t by_other_ = SIZE_MAX;
    const std::size_t bytes_;         /* of what it gives */
    DatablockPtr kept_ PTASK_GUARDED; /* sticky */
    const PortImpl *size_ = nullptr;  /* PortOptions::size_from */
    const PortOptions options_;
};

inline PortImpl &impl(Port &port)
{
    return static_cast<PortImpl &>(port);
}

inline const PortImpl &impl(const Port &port)
{
    return static_cast<const PortImpl &>(port);
}

} // namespace ptsched::ptask

#endif /* PTSCHED_PTASK_GRAPH_PORT_HPP */
