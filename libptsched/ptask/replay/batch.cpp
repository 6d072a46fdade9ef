// SPDX-License-Identifier: MIT
#include "libptsched/ptask/replay/batch.hpp"

#include <algorithm>

namespace ptsched::ptask {

namespace {

/* The subgraph so many times over, with memory for each. What is fixed they share. */
class Repeated {
public:
    explicit Repeated(const Subgraph &one) : one_(one), subgraph_(one)
    {
        for (const SubgraphStep &step : one.steps)
            for (std::size_t before : step.after)
                is_last_[before] = false;
        for (std::size_t i = 1; i < Batch::sets; i++)
            add();
    }

    Subgraph take() { return std::move(subgraph_); }

private:
    void add()
    {
        first_step_ = subgraph_.steps.size();
        add_buffers();
        for (std::size_t i = 0; i < one_.steps.size(); i++)
            add_step(i);
        for (const SubgraphInput &input : one_.inputs)
            subgraph_.inputs.push_back({input.channel, buffer_of_[input.buffer], input.is_filled});
        for (SubgraphOutput output : one_.outputs) {
            output.buffer = buffer_of_[output.buffer];
            output.writer += first_step_;
            subgraph_.outputs.push_back(std::move(output));
        }
        for (std::size_t i = 0; i < one_.fixed.size(); i++)
            for (std::size_t user : one_.fixed[i].users)
                subgraph_.fixed[i].users.push_back(first_step_ + user);
        subgraph_.inside_bytes += one_.inside_bytes;
    }

    bool is_fixed(std::size_t buffer) const
    {
        return std::ranges::any_of(one_.fixed, [&](const SubgraphConstant &fixed) { return fixed.buffer == buffer; });
    }

    void add_buffers()
    {
        for (std::size_t i = 0; i < one_.buffers.size(); i++) {
            const SubgraphBuffer &buffer = one_.buffers[i];
            buffer_of_[i] = is_fixed(i) ? i : subgraph_.buffers.size();
            if (!is_fixed(i))
                subgraph_.buffers.push_back({buffer.bytes, buffer.has_room, buffer.offset + subgraph_.inside_bytes});
            for (std::size_t user : buffer.users)
                subgraph_.buffers[buffer_of_[i]].users.push_back(first_step_ + user);
        }
    }

    /* A row of steps takes a driver least. */
    void add_step(std::size_t which)
    {
        SubgraphStep step = one_.steps[which];
        for (SubgraphStep::Argument &argument : step.arguments)
            if (!argument.by_value)
                argument.what = buffer_of_[argument.what];
        step.to = buffer_of_[step.to];
        step.from = buffer_of_[step.from];
        for (std::size_t &before : step.after)
            before += first_step_;
        for (std::size_t i = 0; step.after.empty() && i < one_.steps.size(); i++)
            if (is_last_[i])
                step.after.push_back(first_step_ - one_.steps.size() + i);
        subgraph_.steps.push_back(std::move(step));
    }

    const Subgraph &one_;
    Subgraph subgraph_;
    std::vector<bool> is_last_ = std::vector<bool>(one_.steps.size(), true);
    /* Of what is added. */
    std::size_t first_step_ = 0;
    std::vector<std::size_t> buffer_of_ = std::vector<std::size_t>(one_.buffers.size());
};

/* Of each output: what passes there. */
bool of_outputs(const Subgraph &one, auto condition)
{
    return std::ranges::all_of(one.outputs, [&](const SubgraphOutput &output) {
        return std::ranges::all_of(output.channels,
                                   [&](const Channel *channel) PTASK_LOCKED { return condition(*channel); });
    });
}

} // namespace

Batch::Batch(const Subgraph &one) : subgraph(Repeated(one).take())
{
    set.inputs.resize(subgraph.inputs.size());
    set.on_host.resize(subgraph.outputs.size());
}

bool Batch::fits(const Subgraph &one)
{
    return std::ranges::all_of(one.inputs, [](const SubgraphInput &in) { return in.channel->capacity >= sets; }) &&
           of_outputs(one, [](const Channel &channel)
                               PTASK_LOCKED { return channel.capacity >= results_ahead + sets && !channel.event; });
}

std::size_t Batch::complete(const Subgraph &one)
{
    std::size_t least = sets;
    for (const SubgraphInput &input : one.inputs)
        least = std::min(least, input.channel->tokens.size());
    return least;
}

/* Nothing but blocks come in next. */
bool Batch::have_no_signals(const Subgraph &one)
{
    return std::ranges::all_of(one.inputs, [](const SubgraphInput &input) PTASK_LOCKED {
        const auto &tokens = input.channel->tokens;
        for (std::size_t i = 0; i < std::min(tokens.size(), sets); i++)
            if (has_signals(tokens[i].item))
                return false;
        return true;
    });
}

bool Batch::is_complete(const Subgraph &one)
{
    return complete(one) == sets && has_room(one) && have_no_signals(one);
}

bool Batch::has_room(const Subgraph &one)
{
    return of_outputs(one,
                      [](const Channel &channel) PTASK_LOCKED { return channel.used() + sets <= channel.capacity; });
}

bool Batch::may_wait(const Subgraph &one)
{
    return of_outputs(one,
                      [](const Channel &channel) PTASK_LOCKED { return channel.tokens.size() >= results_ahead; }) &&
           std::ranges::none_of(one.inputs,
                                [](const SubgraphInput &input) PTASK_LOCKED { return input.channel->waiting; }) &&
           have_no_signals(one);
}

} // namespace ptsched::ptask
