/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_PTASK_PORT_HPP
#define PTSCHED_PTASK_PORT_HPP

#include <ptsched/device/datablock.hpp>
#include <ptsched/ptask/template.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#pragma GCC visibility push(default)

namespace ptsched::ptask {

using device::Datablock;
using device::DatablockPtr;
using device::Error;
using device::Geometry;
using device::trim;
using device::View;

enum class PortKind : unsigned char {
    input,     /* takes a datablock for each run */
    output,    /* gives one for each run */
    sticky,    /* keeps its datablock until another comes */
    inout,     /* takes one for each run and gives it on, changed */
    metadata,  /* an integer for each run that the run-time reads, not the code: how many records an output has */
    condition, /* an integer for each run that the run-time reads, not the code: with 0 the code does not run */
};

struct PortOptions {
    std::string name;
    PortKind kind;
    Template form;
    /*
     * Output, inout without a channel: what the block of each run begins with. Sticky: the block until another comes.
     * Input, inout with a channel: the block of the first run, which makes a cycle possible.
     */
    DatablockPtr initial = {};
    /*
     * Output of variable size: the port that says it. If that is one integer, it is the number of records, else its
     * block has as many.
     */
    std::string size_from = {};
};

PortOptions in(std::string name, Template form);
PortOptions out(std::string name, Template form);
PortOptions sticky(std::string name, Template form);
PortOptions inout(std::string name, Template form);
PortOptions metadata(std::string name, std::size_t bytes = sizeof(unsigned));
PortOptions condition(std::string name, std::size_t bytes = sizeof(unsigned));
/* A sticky port for a parameter of @bytes that is passed by value. */
PortOptions value(std::string name, std::size_t bytes);
template <typename T> PortOptions typed_as(PortOptions port)
{
    port.form.type = Template::type_of<T>();
    return port;
}
/* These for one of that type. */
template <typename T> PortOptions value(std::string name)
{
    return typed_as<T>(value(std::move(name), sizeof(T)));
}
template <typename T> PortOptions metadata(std::string name)
{
    return typed_as<T>(metadata(std::move(name), sizeof(T)));
}
template <typename T> PortOptions condition(std::string name)
{
    return typed_as<T>(condition(std::move(name), sizeof(T)));
}
/* The same, with a value that stays if no other comes: it needs no channel. */
template <typename T> PortOptions constant(std::string name, const T &content)
{
    PortOptions port = value<T>(std::move(name));
    port.initial = Datablock::of(&content, sizeof(content));
    return port;
}

PortOptions starting_with(PortOptions port, DatablockPtr initial);
PortOptions zeroed(PortOptions port);
PortOptions sized_by(PortOptions port, std::string other);
/* The parameter is the content, which comes anew for each run unless the port is sticky. */
PortOptions by_value(PortOptions port);

class Graph;
class Task;
class Scheduler;
struct Channel;

/* What is at a port; may have changed before the caller looks. */
struct PortState {
    bool occupied = false;    /* an input: has what the next run takes; an output: has no room for what that gives */
    std::size_t blocks = 0;   /* datablocks, or signals, in its channel; of several, in that with the least room */
    std::size_t capacity = 0; /* of that channel; 0: there is none */
};

class alignas(64) Port {
public:
    const PortOptions &options() const { return options_; }
    /* "task.port" */
    std::string full_name() const;

    /* Whether a channel may end here, and begin here. */
    bool takes() const { return kind_ != PortKind::output; }
    bool gives() const { return kind_ == PortKind::output || kind_ == PortKind::inout; }
    /* Whether the code sees it, and whether the run-time looks at the content. */
    bool is_parameter() const { return kind_ != PortKind::metadata && kind_ != PortKind::condition; }
    /* Whether its block is to be where the code runs. */
    bool is_moved() const { return is_parameter() && binding_ != Binding::by_value; }
    /* Whether it is a variable of the kernel's module, and no parameter: see Constants. */
    bool is_variable() const { return variable_; }
    std::size_t index() const { return index_; }
    /* That a block has which passes through it: its record count. */
    std::size_t records(const Datablock &block) const { return options_.form.records(block.bytes()); }
    const Task &task() const { return task_; }
    /* Throws Error if it is known to have others than @type. */
    void check_type(const std::type_info &type) const;
    /* Takes the graph's lock. */
    PortState state() const;

private:
    friend class Arbiter;
    friend class Graph;
    friend class Task;
    friend class Scheduler;
    friend class Checks;
    friend class Launch;
    friend class Lowering;
    friend class Parts;
    friend class PartBuilder;
    friend class Slot;
    Port(Task &task, PortOptions options, std::size_t index)
        : task_(task), index_(static_cast<unsigned>(index)), kind_(options.kind), binding_(options.form.binding),
          begins_(options.initial != nullptr), bytes_(options.size_from.empty() ? options.form.bytes() : by_other_),
          options_(std::move(options))
    {
    }

    /* What each run uses is in front: of a graph of thousands of tasks, most is in no cache. */
    Task &task_;
    Channel *from_ = nullptr;
    Channel *loop_ = nullptr; /* from the end of a loop that begins here */
    std::vector<Channel *> to_;
    unsigned index_;
    const PortKind kind_;   /* as in the options */
    const Binding binding_; /* as in the options */
    bool read_ = false;
    bool variable_ = false;
    /* the graph's lock */
    bool looping_ = false; /* what was taken from outside the loop has not left it */
    const bool begins_;    /* has an initial block */
    static constexpr std::size_t by_other_ = SIZE_MAX;
    const std::size_t bytes_;    /* of what it gives */
    DatablockPtr kept_;          /* sticky */
    const Port *size_ = nullptr; /* PortOptions::size_from */
    const PortOptions options_;
};

} // namespace ptsched::ptask

#pragma GCC visibility pop

#endif /* PTSCHED_PTASK_PORT_HPP */
