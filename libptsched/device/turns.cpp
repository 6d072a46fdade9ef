// SPDX-License-Identifier: MIT
#include "libptsched/device/attachment.hpp"
#include <ptsched/device/turns.hpp>

#include <utility>

namespace ptsched::device {

std::unique_ptr<Turns> Turns::open(Device &device, Attach how, Calls calls)
{
    return open(device, how, std::move(calls), {});
}

std::unique_ptr<Turns> Turns::open(Device &device, Attach how, Calls calls, std::function<Activity()> activity)
{
    auto attachment = Attachment::open(device, how, std::move(calls), std::move(activity));
    return attachment ? std::unique_ptr<Turns>(new Turns(std::move(attachment))) : nullptr;
}

Turns::Turns(std::unique_ptr<Attachment> attachment) : attachment_(std::move(attachment)) {}
Turns::~Turns() = default;

bool Turns::begin()
{
    return attachment_->begin();
}

bool Turns::wait_to_begin(std::chrono::nanoseconds most)
{
    if (most == std::chrono::nanoseconds::max())
        return attachment_->begin_until(nullptr);
    const auto until = Clock::now() + most;
    return attachment_->begin_until(&until);
}

void Turns::begin_more()
{
    attachment_->begin_more();
}

void Turns::ended(bool submitted)
{
    attachment_->ended(submitted);
}

bool Turns::has_room(double seconds) const
{
    return attachment_->has_room(seconds);
}

bool Turns::wants_measure()
{
    return attachment_->wants_measure();
}

void Turns::measured(double seconds)
{
    attachment_->measured(seconds);
}

void Turns::act_for(RequesterPtr requester)
{
    attachment_->act_for(std::move(requester));
}

void Turns::quit()
{
    attachment_->quit();
}

} // namespace ptsched::device
