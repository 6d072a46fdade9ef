// SPDX-License-Identifier: MIT
#include "libptsched/base/worker.hpp"
#include "libptsched/ptask/ipc/device_sharing.hpp"
#include "libptsched/ptask/ipc/items.hpp"
#include "libptsched/ptask/time/deadline.hpp"
#include <ptsched/ptask/remote.hpp>

#include <poll.h>
#include <utility>

namespace ptsched::ptask {

class RemoteImpl {
public:
    using Direction = Remote::Direction;
    using enum Remote::Direction;
    using enum Remote::Place;
    RemoteImpl(const std::string &path, const std::string &port, Direction direction, Remote::Place place,
               Timeout timeout, const std::stop_token &stop);

    const Template &form() const { return form_; }
    bool push(SharedMemory &&block, Timeout timeout, const std::stop_token &stop);
    bool send(Item &&item, Timeout timeout, const std::stop_token &stop);
    DatablockPtr pull(Timeout timeout);
    std::optional<Item> take(Timeout timeout, const std::stop_token &stop);

private:
    class Caller;
    class Turn;

    void must_be(Direction direction) const;
    static UniqueFd connected(const std::string &path, const Caller &caller);
    /* Those that follow are called by who has the turn. */
    bool ask(Packet &request, const Caller &caller);
    std::optional<Packet> receive(const Stop &stop, Deadline until);
    std::optional<Packet> answer_to(const Caller &caller);
    bool is_to_ask_again(const Caller &caller) const;
    std::uint32_t give(Packet &request, const Caller &caller);
    std::optional<Packet> next_packet(const Caller &caller);
    std::optional<Item> next(const Caller &caller);

    Mutex mutex_;
    std::condition_variable_any turn_over_;
    bool taken_ PTSCHED_GUARDED_BY(mutex_) = false; /* somebody has the turn, and what follows */
    UniqueFd socket_;
    const Direction direction_;
    bool lending_ = true; /* may help: it has not failed */
    bool ended_ = false;  /* what pull() has given came with the end of a stream, which is next */
    bool owed_ = false;   /* the answer to the last request */
    Deadline asked_until_;
    std::optional<Packet> lent_; /* what came and cannot be used here: it is to be fetched */
    Template form_;
};

namespace {

/* What an answer may take, after the timeout that the graph's process keeps. */
constexpr std::chrono::seconds grace{5};
/* Who can be told to stop asks for no longer at a time, so that the other process does not wait for him in vain. */
constexpr std::chrono::milliseconds at_a_time{100};
/* Until it is tried again to connect where others wait for that, too: nobody tells. */
constexpr std::chrono::milliseconds nap{5};

void throw_if_refused(const Packet &answer)
{
    if ((answer.head.flags & Packet::refused) && !(answer.head.flags & Packet::not_here))
        throw Error(answer.text);
}

} // namespace

/* One who calls: until when. */
class RemoteImpl::Caller {
public:
    Caller(Timeout timeout, const std::stop_token &token) : stop(token), deadline_(deadline_of(timeout)) {}
    const Deadline &deadline() const { return deadline_; }
    bool is_over() const { return deadline_ && Clock::now() >= *deadline_; }
    /* How long the other process is to wait. */
    Timeout share() const
    {
        Timeout left;
        if (deadline_)
            left = std::max(Timeout::value_type(0), Timeout::value_type(*deadline_ - Clock::now()));
        if (stop.token().stop_possible() && (!left || *left > at_a_time))
            left = at_a_time;
        return left;
    }

    const Stop stop;

private:
    const Deadline deadline_;
};

/* One has it at a time; false if it did not come in time. */
class RemoteImpl::Turn {
public:
    Turn(RemoteImpl &remote, const Caller &caller) : remote_(remote)
    {
        Lock lock(remote.mutex_);
        auto is_free = [&remote]() PTSCHED_REQUIRES(remote.mutex_) { return !remote.taken_; };
        const std::stop_token &stop = caller.stop.token();
        mine_ = caller.deadline() ? is_free() : remote.turn_over_.wait(lock, stop, is_free);
        while (!mine_ && !caller.is_over() && !stop.stop_requested())
            mine_ = remote.turn_over_.wait_for(lock, stop, Clock::stretch_until(*caller.deadline()), is_free);
        /* If it is not this one's, it is another's. */
        remote.taken_ = true;
    }
    ~Turn()
    {
        if (!mine_)
            return;
        Guard lock(remote_.mutex_);
        remote_.taken_ = false;
        remote_.turn_over_.notify_one();
    }
    Turn(const Turn &) = delete;
    Turn &operator=(const Turn &) = delete;
    explicit operator bool() const { return mine_; }

private:
    RemoteImpl &remote_;
    bool mine_;
};

RemoteImpl::RemoteImpl(const std::string &path, const std::string &port, Direction direction, Remote::Place place,
                       Timeout timeout, const std::stop_token &stop)
    : direction_(direction), lending_(direction == to_push || place == where_it_is)
{
    const Caller caller(timeout, stop);
    socket_ = connected(path, caller);
    Packet hello;
    hello.head.kind = direction == to_push ? Packet::hello_input : Packet::hello_output;
    hello.text = port;
    const std::optional<Packet> welcome = socket_ && ask(hello, caller) ? answer_to(caller) : std::nullopt;
    if (!welcome)
        throw Error("the process that serves a graph at " + path + " has not answered in time");
    throw_if_refused(*welcome);
    const Packet::Head &head = welcome->head;
    form_ = {{head.dimensions[0], head.dimensions[1], head.dimensions[2]}, head.stride, Layout(head.layout)};
}

void RemoteImpl::must_be(Direction direction) const
{
    if (direction_ != direction)
        throw Error(direction == to_push ? "a Remote that is to pull does not push: one made with to_push would do"
                                         : "a Remote that is to push does not pull: one made with to_pull would do");
}

/* None if the time is up. */
UniqueFd RemoteImpl::connected(const std::string &path, const Caller &caller)
{
    UniqueFd socket = socket_at(path, false);
    while (!socket && !caller.is_over() && !caller.stop.requested()) {
        std::this_thread::sleep_for(nap);
        socket = socket_at(path, false);
    }
    return socket;
}

/* False if nothing was sent, since the time is up. */
bool RemoteImpl::ask(Packet &request, const Caller &caller)
{
    const Timeout share = caller.share();
    request.head.timeout = share ? share->count() : -1;
    if (caller.stop.requested())
        return false;
    while (!send_packet(socket_.get(), request))
        if (!caller.stop.await(socket_.get(), POLLOUT, caller.deadline()))
            return false;
    asked_until_ = share ? Deadline(Clock::now() + *share) : std::nullopt;
    owed_ = true;
    return true;
}

std::optional<Packet> RemoteImpl::receive(const Stop &stop, Deadline until)
{
    while (stop.await(socket_.get(), POLLIN, until))
        if (std::optional<Packet> packet = receive_packet(socket_.get())) {
            owed_ = false;
            return packet;
        }
    return {};
}

/* To what was just asked; nothing if the other process keeps no timeout. */
std::optional<Packet> RemoteImpl::answer_to(const Caller &caller)
{
    const Deadline &deadline = caller.deadline();
    std::optional<Packet> answer = receive(caller.stop, deadline ? Deadline(*deadline + grace) : std::nullopt);
    if (answer || !caller.stop.requested())
        return answer;
    return receive(Stop({}), Clock::now() + at_a_time + grace);
}

/* After an answer that nothing came or went. One that came early says that the graph was stopped. */
bool RemoteImpl::is_to_ask_again(const Caller &caller) const
{
    return asked_until_ && Clock::now() >= *asked_until_ && !caller.is_over();
}

/* The flags of the answer; none if the time is up, and what was to be pushed is not in. */
std::uint32_t RemoteImpl::give(Packet &request, const Caller &caller)
{
    /* Who asked for that was told. */
    if (owed_ && !receive(caller.stop, caller.deadline()))
        return 0;
    while (ask(request, caller)) {
        const std::optional<Packet> answer = answer_to(caller);
        if (!answer)
            throw Error("the graph's process has not answered in time: what was pushed may be in, or come to be");
        throw_if_refused(*answer);
        if (answer->head.flags || !is_to_ask_again(caller))
            return answer->head.flags;
    }
    return 0;
}

bool RemoteImpl::push(SharedMemory &&block, Timeout timeout, const std::stop_token &stop)
{
    must_be(to_push);
    const Caller caller(timeout, stop);
    const Turn turn(*this, caller);
    if (!turn)
        return false;
    Packet packet;
    packet.head.kind = Packet::request;
    packet.head.flags = Packet::has_block;
    packet.head.bytes = block.bytes();
    packet.memory = std::move(block).seal();
    if (give(packet, caller) & Packet::done)
        return true;
    block.keep(std::move(packet.memory));
    return false;
}

/* A block that may not be lent, or cannot be used there, goes as memory. */
bool RemoteImpl::send(Item &&item, Timeout timeout, const std::stop_token &stop)
{
    must_be(to_push);
    const Caller caller(timeout, stop);
    const Turn turn(*this, caller);
    if (!turn)
        return false;
    Packet packet = packet_of(item);
    packet.head.kind = Packet::request;
    if (item.block && !(lending_ && lend(item.block, packet)))
        pack_memory(*item.block, packet);
    std::uint32_t flags = give(packet, caller);
    if (flags & Packet::not_here) {
        lending_ = false;
        packet.head.flags &= ~std::uint32_t{Packet::is_lent};
        pack_memory(*item.block, packet);
        flags = give(packet, caller);
    }
    if (!(flags & Packet::done))
        return false;
    item = {};
    return true;
}

/* What has come for who pulls, or was lent and is fetched; nothing where nothing came in time. */
std::optional<Packet> RemoteImpl::next_packet(const Caller &caller)
{
    for (;;) {
        std::optional<Packet> answer;
        if (owed_) {
            answer = receive(caller.stop, caller.deadline());
        } else {
            Packet request;
            request.head.kind = lent_ ? Packet::fetch : Packet::request;
            request.head.flags = lending_ ? Packet::may_lend : 0u;
            if (ask(request, caller))
                answer = answer_to(caller);
        }
        if (!answer)
            return {};
        /* What is fetched and cannot be sent now is there still. */
        throw_if_refused(*answer);
        const std::optional<Packet> lent = std::exchange(lent_, std::nullopt);
        if (lent) {
            answer->head.flags |= lent->head.flags & ~std::uint32_t{Packet::is_lent};
            answer->text = lent->text;
        }
        if (answer->head.flags & Packet::done)
            return answer;
        if (!is_to_ask_again(caller))
            return {};
    }
}

std::optional<Item> RemoteImpl::next(const Caller &caller)
{
    if (std::exchange(ended_, false))
        return Item{nullptr, true};
    for (;;) {
        std::optional<Packet> packet = next_packet(caller);
        if (!packet)
            return {};
        try {
            return item_of(*packet);
        } catch (const NotHere &) {
            /* It is asked for as memory. */
            lending_ = false;
            lent_ = std::move(packet);
        }
    }
}

std::optional<Item> RemoteImpl::take(Timeout timeout, const std::stop_token &stop)
{
    must_be(to_pull);
    const Caller caller(timeout, stop);
    const Turn turn(*this, caller);
    return turn ? next(caller) : std::nullopt;
}

DatablockPtr RemoteImpl::pull(Timeout timeout)
{
    must_be(to_pull);
    std::optional<Item> item;
    const Caller caller(timeout, {});
    if (const Turn turn(*this, caller); turn) {
        item = next(caller);
        ended_ = item && item->has_more_than_an_end();
    }
    if (item && item->error)
        throw Error(*item->error);
    return item ? std::move(item->block) : nullptr;
}

Remote::Remote(const std::string &path, const std::string &port, Direction direction, Place place, Timeout timeout,
               const std::stop_token &stop)
    : impl_(std::make_unique<RemoteImpl>(path, port, direction, place, timeout, stop))
{
}

Remote::~Remote() = default;

const Template &Remote::form() const
{
    return impl_->form();
}

bool Remote::push(SharedMemory &&block, Timeout timeout, const std::stop_token &stop)
{
    return impl_->push(std::move(block), timeout, stop);
}

bool Remote::send(Item &&item, Timeout timeout, const std::stop_token &stop)
{
    return impl_->send(std::move(item), timeout, stop);
}

DatablockPtr Remote::pull(Timeout timeout)
{
    return impl_->pull(timeout);
}

std::optional<Item> Remote::take(Timeout timeout, const std::stop_token &stop)
{
    return impl_->take(timeout, stop);
}

} // namespace ptsched::ptask
