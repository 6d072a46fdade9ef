// SPDX-License-Identifier: MIT
#include "libptsched/base/worker.hpp"
#include "libptsched/ptask/api/graph.hpp"
#include "libptsched/ptask/ipc/device_sharing.hpp"
#include "libptsched/ptask/ipc/items.hpp"
#include "libptsched/ptask/ipc/packet.hpp"
#include <ptsched/ptask/server.hpp>

#include <algorithm>
#include <cerrno>
#include <list>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>

namespace ptsched::ptask {

class ServerImpl {
public:
    ServerImpl(std::string path, std::map<std::string, Input *> inputs, std::map<std::string, Output *> outputs);
    ~ServerImpl();

private:
    struct Connection {
        Connection(ServerImpl &server, UniqueFd &&fd);
        UniqueFd socket;
        Worker worker;
    };

    void remove_name();
    void accept_all(const Stop &stop);
    bool accept_one(std::list<Connection> &connections);
    void serve(const Stop &stop, int socket);
    void serve_input(const Stop &stop, int socket, Input &input);
    void serve_output(const Stop &stop, int socket, Output &output);

    const std::string path_;
    const std::map<std::string, Input *> inputs_;
    const std::map<std::string, Output *> outputs_;
    const UniqueFd listener_;
    struct stat name_ = {}; /* what is at the path */
    std::optional<Worker> worker_;
};

namespace {

constexpr std::size_t most_connections = 256;
/* When there is no descriptor for one more, or for what comes by it, until it is tried again. */
constexpr std::chrono::milliseconds pause{100};

Packet receive(const Stop &stop, int socket)
{
    while (stop.await(socket, POLLIN))
        try {
            if (std::optional<Packet> packet = receive_packet(socket))
                return std::move(*packet);
        } catch (const NoDescriptor &) {
            std::this_thread::sleep_for(pause);
        }
    throw Error("the graph is not served any more");
}

void answer(const Stop &stop, int socket, Packet &&packet)
{
    packet.head.kind = Packet::answer;
    while (stop.await(socket, POLLOUT))
        if (send_packet(socket, packet))
            return;
    throw Error("the graph is not served any more");
}

void refuse(const Stop &stop, int socket, const std::string &why)
{
    Packet packet;
    packet.head.flags = Packet::refused;
    packet.text = why;
    answer(stop, socket, std::move(packet));
}

void welcome(const Stop &stop, int socket, const Template &form)
{
    Packet packet;
    packet.head.flags = Packet::done;
    packet.head.layout = static_cast<std::uint32_t>(form.layout);
    packet.head.stride = form.stride;
    std::copy(form.dimensions.begin(), form.dimensions.end(), packet.head.dimensions);
    answer(stop, socket, std::move(packet));
}

Timeout timeout_of(const Packet &request)
{
    const std::chrono::nanoseconds timeout(request.head.timeout);
    return timeout.count() < 0 ? Timeout() : timeout;
}

Item unpack(Packet &packet, const Port &port)
{
    const Template &form = port.options().form;
    if ((packet.head.flags & Packet::has_block) && !form.takes(packet.head.bytes))
        throw Error("a datablock of " + std::to_string(packet.head.bytes) + " bytes does not fit " + port.full_name() +
                    ", which takes " + form.describe());
    return item_of(packet);
}

Packet pack(const Item &item, bool may_lend)
{
    Packet packet = packet_of(item);
    packet.head.flags |= Packet::done;
    if (item.block && !(may_lend && lend(item.block, packet)))
        pack_memory(*item.block, packet);
    return packet;
}

/* Whether the other end has gone, and not read what was sent last. */
bool is_reset(int socket, const Error &end)
{
    int error = 0;
    socklen_t size = sizeof(error);
    /* That is told once: to who has received, or here. */
    return dynamic_cast<const Reset *>(&end) ||
           (getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == ECONNRESET);
}

/* Throws Error if one is null; gives them back. */
template <typename End> std::map<std::string, End *> checked(std::map<std::string, End *> ends, const char *what)
{
    for (const auto &[name, end] : ends)
        if (!end)
            throw Error(std::string("the ") + what + " that is to be served as " + name + " is null");
    return ends;
}

/* Of what was lent and could not be used: who asks for it has it still. */
Packet pack_lent(const DatablockPtr &block)
{
    Packet packet;
    if (!block)
        throw Error("no datablock is lent that could be fetched");
    packet.head.flags = Packet::done | Packet::has_block;
    pack_memory(*block, packet);
    return packet;
}

} // namespace

ServerImpl::Connection::Connection(ServerImpl &server, UniqueFd &&fd)
    : socket(std::move(fd)), worker([this, &server](const Stop &stop) {
          /* What ends it, its other end knows. */
          try {
              server.serve(stop, socket.get());
          } catch (const std::exception &) {
          }
          shutdown(socket.get(), SHUT_RDWR);
      })
{
}

ServerImpl::ServerImpl(std::string path, std::map<std::string, Input *> inputs, std::map<std::string, Output *> outputs)
    : path_(std::move(path)), inputs_(checked(std::move(inputs), "input")),
      outputs_(checked(std::move(outputs), "output")), listener_(socket_at(path_, true))
{
    lstat(path_.c_str(), &name_);
    try {
        worker_.emplace([this](const Stop &stop) { accept_all(stop); });
    } catch (...) {
        remove_name();
        throw;
    }
}

ServerImpl::~ServerImpl()
{
    worker_.reset();
    remove_name();
}

/*
 * Somebody may have removed it before, so that another could serve there. As long as it is open, it is one of a kind.
 */
void ServerImpl::remove_name()
{
    struct stat found;
    if (lstat(path_.c_str(), &found) == 0 && found.st_dev == name_.st_dev && found.st_ino == name_.st_ino)
        unlink(path_.c_str());
}

/* Also looks for connections whose other end is gone: who serves them may wait for the graph. */
void ServerImpl::accept_all(const Stop &stop)
{
    std::list<Connection> connections;
    bool tired = false;

    while (!stop.requested()) {
        const bool open = !tired && connections.size() < most_connections;
        std::vector<pollfd> waited = {{stop.fd(), POLLIN, 0}, {open ? listener_.get() : -1, POLLIN, 0}};
        for (const Connection &connection : connections)
            waited.push_back({connection.socket.get(), 0, 0});
        poll(waited.data(), waited.size(), tired ? static_cast<int>(pause.count()) : -1);
        auto connection = connections.begin();
        for (std::size_t i = 2; i < waited.size(); i++)
            connection = waited[i].revents ? connections.erase(connection) : std::next(connection);
        tired = waited[1].revents && !accept_one(connections);
    }
}

bool ServerImpl::accept_one(std::list<Connection> &connections)
{
    UniqueFd fd = above_streams(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!fd)
        return errno == EAGAIN || errno == EINTR || errno == ECONNABORTED;
    try {
        connections.emplace_back(*this, std::move(fd));
        return true;
    } catch (const std::exception &) {
        return false;
    }
}

void ServerImpl::serve(const Stop &stop, int socket)
{
    const Packet hello = receive(stop, socket);
    auto input = inputs_.find(hello.text);
    auto output = outputs_.find(hello.text);

    if (hello.head.kind == Packet::hello_input && input != inputs_.end()) {
        welcome(stop, socket, input->second->port().options().form);
        serve_input(stop, socket, *input->second);
    } else if (hello.head.kind == Packet::hello_output && output != outputs_.end()) {
        welcome(stop, socket, output->second->port().options().form);
        serve_output(stop, socket, *output->second);
    } else {
        std::string names, which = hello.text;
        if (input != inputs_.end() || output != outputs_.end())
            which += hello.head.kind == Packet::hello_input ? " to who pushes" : " to who pulls";
        for (const auto &[name, port] : inputs_)
            names += " " + name + " (in)";
        for (const auto &[name, port] : outputs_)
            names += " " + name + " (out)";
        refuse(stop, socket, "the graph does not serve " + which + "; it serves" + names);
    }
}

void ServerImpl::serve_input(const Stop &stop, int socket, Input &input)
{
    const device::RequesterPtr requester = device::requester_of_peer(socket);
    for (;;) {
        Packet request = receive(stop, socket);
        Packet reply;
        try {
            Item item = unpack(request, input.port());
            impl(input).work_for(requester);
            bool in = input.send(std::move(item), timeout_of(request), stop.token());
            reply.head.flags = in ? Packet::done : 0u;
        } catch (const NotHere &error) {
            reply.head.flags = Packet::refused | Packet::not_here;
            reply.text = error.what();
        } catch (const Error &error) {
            reply.head.flags = Packet::refused;
            reply.text = error.what();
        }
        answer(stop, socket, std::move(reply));
    }
}

void ServerImpl::serve_output(const Stop &stop, int socket, Output &output)
{
    const device::RequesterPtr requester = device::requester_of_peer(socket);
    DatablockPtr lent;        /* by the last answer: it may be asked for as memory */
    std::optional<Item> item; /* of the last answer, until it is known that it was read */
    auto give_back = [&] {
        if (std::optional<Item> unread = std::exchange(item, std::nullopt))
            output.give_back(std::move(*unread));
    };
    for (;;) {
        Packet request;
        try {
            request = receive(stop, socket);
        } catch (const Error &error) {
            if (is_reset(socket, error))
                give_back();
            throw;
        }
        const DatablockPtr lent_before = std::move(lent);
        impl(output).work_for(requester);
        item.reset();
        Packet reply;
        try {
            if (request.head.kind == Packet::fetch)
                reply = pack_lent(lent_before);
            else if ((item = output.take(timeout_of(request), stop.token())))
                reply = pack(*item, request.head.flags & Packet::may_lend);
        } catch (const Error &error) {
            give_back();
            /* It has it still, and may ask again. */
            if (request.head.kind == Packet::fetch)
                lent = lent_before;
            refuse(stop, socket, error.what());
            continue;
        }
        if (reply.head.flags & Packet::is_lent)
            lent = item->block;
        try {
            answer(stop, socket, std::move(reply));
        } catch (const Error &) {
            /* For somebody else. */
            give_back();
            throw;
        }
    }
}

Server::Server(std::string path, std::map<std::string, Input *> inputs, std::map<std::string, Output *> outputs)
    : impl_(std::make_unique<ServerImpl>(std::move(path), std::move(inputs), std::move(outputs)))
{
}

Server::~Server() = default;

} // namespace ptsched::ptask
