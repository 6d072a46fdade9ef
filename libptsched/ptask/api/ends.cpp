// SPDX-License-Identifier: MIT
/* Where datablocks enter a graph, and where they leave it. */
#include "libptsched/ptask/api/graph.hpp"
#include "libptsched/ptask/run/scheduler.hpp"

#include <thread>

namespace ptsched::ptask {

Entrance::Inside::Inside(const Entrance &entrance, const char *which) : entrance_(entrance)
{
    entrance_.inside_.fetch_add(1);
    if (!entrance_.closed_.load())
        return;
    entrance_.inside_.fetch_sub(1);
    throw Error(std::string("the graph of this ") + which + " is gone: it is to live as long as somebody uses it");
}

void Entrance::close()
{
    closed_.store(true);
    while (inside_.load())
        std::this_thread::yield();
}

bool Input::push(DatablockPtr block, Timeout timeout)
{
    return send({std::move(block)}, timeout);
}

bool Input::send(Item &&item, Timeout timeout, const std::stop_token &stop)
{
    const InputImpl &input = impl(*this);
    Entrance::Inside inside(input.entrance_, "input");
    return input.scheduler().push(input.channels_, std::move(item), timeout, stop);
}

const Port &Input::port() const
{
    const InputImpl &input = impl(*this);
    Entrance::Inside inside(input.entrance_, "input");
    return *input.channels_.front()->destination;
}

Depth Input::depth() const
{
    const InputImpl &input = impl(*this);
    Entrance::Inside inside(input.entrance_, "input");
    return input.scheduler().depth(input.channels_);
}

void InputImpl::work_for(const device::RequesterPtr &requester)
{
    Entrance::Inside inside(entrance_, "input");
    scheduler().work_for(requester);
}

DatablockPtr Output::pull(Timeout timeout)
{
    std::optional<Item> item = take_before_end(timeout);
    if (item && item->error)
        throw Error(*item->error);
    return item ? std::move(item->block) : nullptr;
}

std::optional<Item> Output::take(Timeout timeout, const std::stop_token &stop)
{
    const OutputImpl &output = impl(*this);
    Entrance::Inside inside(output.entrance_, "output");
    return output.scheduler().pull(output.channel_, timeout, stop, false);
}

std::optional<Item> Output::take_before_end(Timeout timeout, const std::stop_token &stop)
{
    const OutputImpl &output = impl(*this);
    Entrance::Inside inside(output.entrance_, "output");
    return output.scheduler().pull(output.channel_, timeout, stop, true);
}

void Output::give_back(Item &&item)
{
    const OutputImpl &output = impl(*this);
    Entrance::Inside inside(output.entrance_, "output");
    output.scheduler().give_back(output.channel_, std::move(item));
}

int Output::descriptor()
{
    const OutputImpl &output = impl(*this);
    Entrance::Inside inside(output.entrance_, "output");
    return output.scheduler().descriptor(output.channel_);
}

const Port &Output::port() const
{
    const OutputImpl &output = impl(*this);
    Entrance::Inside inside(output.entrance_, "output");
    return *output.channel_.source;
}

Depth Output::depth() const
{
    const OutputImpl &output = impl(*this);
    Entrance::Inside inside(output.entrance_, "output");
    Channel *const one[] = {&output.channel_};
    return output.scheduler().depth(one);
}

void OutputImpl::work_for(const device::RequesterPtr &requester)
{
    Entrance::Inside inside(entrance_, "output");
    scheduler().work_for(requester, true);
}

} // namespace ptsched::ptask
