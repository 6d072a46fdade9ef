// SPDX-License-Identifier: MIT
#include "libptsched/spmd/link/in_process.hpp"

#include <ptsched/base/error.hpp>

#include <utility>

namespace ptsched::spmd {
namespace {

class InProcess final : public Link {
public:
    InProcess(std::shared_ptr<Hub> hub, unsigned rank) : hub_(std::move(hub)), rank_(rank) {}

    unsigned rank() const override { return rank_; }
    unsigned ranks() const override { return hub_->ranks(); }
    unsigned host_rank() const override { return rank_; }
    unsigned host_ranks() const override { return hub_->ranks(); }
    bool survives() const override { return true; }
    void send(unsigned to, Buffer message) override { hub_->send(rank_, to, std::move(message)); }
    std::size_t unsent() const override { return 0; }
    std::optional<Message> receive(std::chrono::milliseconds limit) override { return hub_->receive(rank_, limit); }
    void wake() override { hub_->wake(rank_); }
    std::vector<unsigned> lost() override { return hub_->lost(rank_); }

private:
    const std::shared_ptr<Hub> hub_;
    const unsigned rank_;
};

[[noreturn]] void say_killed(unsigned rank)
{
    throw Error("rank " + std::to_string(rank) + " has been killed");
}

} // namespace

std::unique_ptr<Link> Hub::link(unsigned rank)
{
    return std::make_unique<InProcess>(shared_from_this(), rank);
}

void Hub::kill(unsigned rank)
{
    for (unsigned other = 0; other < ranks(); other++) {
        Inbox &inbox = inboxes_[other];
        const Guard guard(inbox.mutex);
        if (other == rank)
            inbox.killed = true;
        else
            inbox.lost.push_back(rank);
        inbox.woken = true;
        inbox.changed.notify_all();
    }
}

void Hub::send(unsigned from, unsigned to, Buffer message)
{
    {
        Inbox &own = inboxes_[from];
        const Guard guard(own.mutex);
        if (own.killed)
            say_killed(from);
    }
    Inbox &inbox = inboxes_.at(to);
    const Guard guard(inbox.mutex);
    if (inbox.killed)
        return;
    inbox.messages.push_back({from, std::move(message)});
    inbox.changed.notify_all();
}

std::optional<Message> Hub::receive(unsigned rank, std::chrono::milliseconds limit)
{
    Inbox &inbox = inboxes_[rank];
    const auto until = std::chrono::steady_clock::now() + limit;
    Lock lock(inbox.mutex);
    for (;;) {
        if (inbox.killed)
            say_killed(rank);
        if (!inbox.messages.empty()) {
            Message message = std::move(inbox.messages.front());
            inbox.messages.pop_front();
            return message;
        }
        if (std::exchange(inbox.woken, false))
            return std::nullopt;
        if (inbox.changed.wait_until(lock, until) == std::cv_status::timeout && inbox.messages.empty())
            return std::nullopt;
    }
}

void Hub::wake(unsigned rank)
{
    Inbox &inbox = inboxes_[rank];
    const Guard guard(inbox.mutex);
    inbox.woken = true;
    inbox.changed.notify_all();
}

std::vector<unsigned> Hub::lost(unsigned rank)
{
    Inbox &inbox = inboxes_[rank];
    const Guard guard(inbox.mutex);
    return std::exchange(inbox.lost, {});
}

} // namespace ptsched::spmd
