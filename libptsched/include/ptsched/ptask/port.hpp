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

/* What is at a port; may have changed before the caller looks. */
struct PortState {
    bool occupied = false;    /* an input: has what the next run takes; an output: has no room for what that gives */
    std::size_t blocks = 0;   /* datablocks, or signals, in its channel; of several, in that with the least room */
    std::size_t capacity = 0; /* of that channel; 0: there is none */
};

/* Belongs to its task. */
class Port {
public:
    Port(const Port &) = delete;
    Port &operator=(const Port &) = delete;
    const PortOptions &options() const;
    /* "task.port" */
    std::string full_name() const;

    /* Whether a channel may end here, and begin here. */
    bool takes() const;
    bool gives() const;
    /* Whether the code sees it, and whether the run-time looks at the content. */
    bool is_parameter() const;
    /* Whether its block is to be where the code runs. */
    bool is_moved() const;
    /* Whether it is a variable of the kernel's module, and no parameter: see Constants. */
    bool is_variable() const;
    std::size_t index() const;
    /* That a block has which passes through it: its record count. */
    std::size_t records(const Datablock &block) const;
    const Task &task() const;
    /* Throws Error if it is known to have others than @type. */
    void check_type(const std::type_info &type) const;
    /* Takes the graph's lock. */
    PortState state() const;

protected:
    Port() = default;
    ~Port() = default;
};

} // namespace ptsched::ptask

#pragma GCC visibility pop

#endif /* PTSCHED_PTASK_PORT_HPP */
