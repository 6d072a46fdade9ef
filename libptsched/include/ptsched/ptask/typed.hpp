/* SPDX-License-Identifier: MIT */
/*
 * Ports whose types the compiler knows. A function of the host takes a span for each, of what is const where it only
 * takes, and a reference for a value; what a graph is given and gives are arrays of that type.
 *
 *	auto scale = [](std::span<const float> x, const float &by, std::span<float> y) { ... };
 *	Task &task = host(graph, "scale", scale, in<float>("x", n), constant_of("by", 2.0f), out<float>("y", n));
 *	InputOf<float> x = input<float>(graph, task["x"]);
 *	OutputOf<float> y = output<float>(graph, task["y"]);
 *	graph.run();
 *	x.push({1, 2, 3});
 *	View<float> result = y.pull();
 *
 * They are ports like others: where a list of these is wanted, say for a kernel, they serve as well.
 */
#ifndef PTSCHED_PTASK_TYPED_HPP
#define PTSCHED_PTASK_TYPED_HPP

#include <ptsched/ptask/graph.hpp>

#include <concepts>

#pragma GCC visibility push(default)

namespace ptsched::ptask {

/* A port that a function sees as a span, of as many elements as its block has. */
template <typename T> struct ArrayPort {
    PortOptions port;
    operator const PortOptions &() const { return port; }
    static std::span<T> argument(const Call &call, std::size_t parameter)
    {
        return {call.at<T>(parameter), call.records(parameter)};
    }
};

/* One that a function sees as a reference. */
template <typename T> struct ValuePort {
    PortOptions port;
    operator const PortOptions &() const { return port; }
    static const T &argument(const Call &call, std::size_t parameter) { return *call.at<const T>(parameter); }
};

template <typename T> ArrayPort<const T> in(std::string name, std::size_t x, std::size_t y = 1, std::size_t z = 1)
{
    return {in(std::move(name), Template::of<T>(x, y, z))};
}
template <typename T> ArrayPort<T> out(std::string name, std::size_t x, std::size_t y = 1, std::size_t z = 1)
{
    return {out(std::move(name), Template::of<T>(x, y, z))};
}
template <typename T> ArrayPort<T> inout(std::string name, std::size_t x, std::size_t y = 1, std::size_t z = 1)
{
    return {inout(std::move(name), Template::of<T>(x, y, z))};
}
template <typename T> ArrayPort<const T> sticky(std::string name, std::size_t x, std::size_t y = 1, std::size_t z = 1)
{
    return {sticky(std::move(name), Template::of<T>(x, y, z))};
}
/* Of at most @records; the number of an output's is that of the block at @sized_by, or the number there. */
template <typename T> ArrayPort<const T> in_up_to(std::string name, std::size_t records)
{
    return {in(std::move(name), Template::variable<T>(records))};
}
template <typename T> ArrayPort<T> out_up_to(std::string name, std::size_t records, std::string sized_by_port)
{
    return {sized_by(out(std::move(name), Template::variable<T>(records)), std::move(sized_by_port))};
}
template <typename T> ValuePort<T> value_of(std::string name)
{
    return {value<T>(std::move(name))};
}
template <typename T> ValuePort<T> constant_of(std::string name, const T &content)
{
    return {constant(std::move(name), content)};
}

/* A port whose type is known. */
template <typename Port>
concept TypedPort = requires(const Port &port, const Call &call)
{
    {
        port.port
        } -> std::convertible_to<PortOptions>;
    Port::argument(call, std::size_t{});
};

/* A function of the host that takes what the ports give, in their order. */
template <typename Function, TypedPort... Ports>
requires std::invocable<Function &, decltype(Ports::argument(std::declval<const Call &>(), 0))...> Task &
host(Graph &graph, const std::string &name, Function function, const Ports &...ports)
{
    auto body = [function = std::move(function)](Call &call) mutable {
        [&]<std::size_t... i>(std::index_sequence<i...>)
        {
            function(Ports::argument(call, i)...);
        }
        (std::index_sequence_for<Ports...>());
    };
    const std::vector<PortOptions> options = {PortOptions(ports.port)...};
    return graph.callback(name, std::move(body), options);
}

/* As Input, for arrays of a type. */
template <typename T> class InputOf {
public:
    /* Throws Error if the port is known to take others. */
    explicit InputOf(Input &input) : input_(input) { input.port().check_type(typeid(T)); }
    bool push(std::span<const T> values, Timeout timeout = {}) { return input_.push(Datablock::of(values), timeout); }
    bool push(std::initializer_list<T> values, Timeout timeout = {})
    {
        return input_.push(Datablock::of(values), timeout);
    }
    bool push(DatablockPtr block, Timeout timeout = {}) { return input_.push(std::move(block), timeout); }
    bool end_stream(Timeout timeout = {}) { return input_.end_stream(timeout); }
    Input &input() const { return input_; }

private:
    Input &input_;
};

/* As Output, likewise. */
template <typename T> class OutputOf {
public:
    /* Throws Error if the port is known to give others. */
    explicit OutputOf(Output &output) : output_(output) { output.port().check_type(typeid(T)); }
    View<T> pull(Timeout timeout = {}) { return output_.pull<T>(timeout); }
    Output &output() const { return output_; }

private:
    Output &output_;
};

/* The type is looked at first: a port of another one has no channel then. */
template <typename T> InputOf<T> input(Graph &graph, Port &to, std::size_t capacity = Graph::default_capacity)
{
    to.check_type(typeid(T));
    return InputOf<T>(graph.input(to, capacity));
}
template <typename T> OutputOf<T> output(Graph &graph, Port &from, std::size_t capacity = Graph::default_capacity)
{
    from.check_type(typeid(T));
    return OutputOf<T>(graph.output(from, capacity));
}

} // namespace ptsched::ptask

#pragma GCC visibility pop

#endif /* PTSCHED_PTASK_TYPED_HPP */
