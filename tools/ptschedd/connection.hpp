/* SPDX-License-Identifier: MIT */
/* One connection: a client to be, or a tool. */
#ifndef PTSCHEDD_CONNECTION_HPP
#define PTSCHEDD_CONNECTION_HPP

#include "kmod/contract/arguments.h"
#include "libptsched/client/broker_protocol.h"
#include "tools/ptschedd/device.hpp"
#include "tools/ptschedd/event_loop.hpp"
#include "tools/ptschedd/switchboard.hpp"
#include "tools/ptschedd/viewer.hpp"

#include <deque>
#include <exception>
#include <memory>
#include <span>
#include <vector>

namespace ptsched {

class Server;

class Connection final : public AcquireSink {
public:
    Connection(Server &server, UniqueFd socket, ProcessRef process);
    ~Connection();

    const ProcessRef &process() const { return process_; }
    /* Null: not attached. */
    Client *client() const { return client_.get(); }
    const Device *device() const { return device_; }

    void acquired(const Waiter &waiter, int result) override;
    /* The answer to PTSCHED_BROKER_AWAIT_FREED. */
    void freed(std::uint64_t id, int result);
    const Viewer &viewer() const { return viewer_; }
    void send_event(std::span<const char> message);
    /* One that could not be made: the next is preceded by the news. */
    void lose_event() { lost_events_ = true; }

    /* No more events are taken from it; the server will destroy it. */
    void stop();
    bool stopped() const { return stopped_; }
    /* The broker ends: the client keeps the page, and the turn, as they are. */
    void abandon();

private:
    struct Outgoing {
        ptsched_broker_header header;
        std::vector<char> payload;
        std::vector<UniqueFd> fds;
    };
    struct Request {
        ptsched_broker_header header;
        std::span<const char> payload;
        std::vector<UniqueFd> fds;
        pid_t pid;
        uid_t uid;
    };

    /* What goes wrong while a peer is served ends its connection, and nobody else's. */
    template <typename Function> void serving(Function function)
    {
        try {
            function();
        } catch (const std::exception &error) {
            hang_up(error);
        }
    }
    void hang_up(const std::exception &error);
    void handle(std::uint32_t events);
    void receive();
    void dispatch(Request &request);
    void serve_contract(Request &request);
    void serve_tool(Request &request);
    void serve_switch(Request &request);
    int tell_channels(Request &request);
    int switch_channels(Request &request);
    bool is_from_owner(const Request &request) const;
    int check_caller(const Request &request, ptsc_caller allowed) const;
    template <typename Argument>
    void serve(Request &request, std::uint32_t first, ptsc_caller caller, int (*check)(const Argument *));
    int check_node(const struct ptsched_attach &argument, const Request &request, const Device &device) const;

    /* What a call does, its argument checked. 0, a negative errno, or -EINPROGRESS: it is answered there, or later. */
#define PTSC_CALL(NAME, name, ...) int carry_out(struct ptsched_##name &argument, Request &request);
#include "kmod/contract/calls.h"

    static ptsched_broker_header make_header(std::uint32_t cmd, std::size_t length, int result, std::uint64_t id);
    void answer(const Request &request, int result, std::span<const char> payload = {});
    void send(Outgoing message);
    bool try_send(Outgoing &message);
    void flush();

    Server &server_;
    UniqueFd socket_;
    ProcessRef process_;
    const Viewer viewer_;
    std::uint64_t key_ = 0;
    bool stopped_ = false;
    std::unique_ptr<Client> client_;
    std::unique_ptr<Switchboard::Owner> switches_; /* once it has told of channels */
    Device *device_ = nullptr;
    /* While something is queued here, nothing is read: who does not take answers gets no more. */
    std::deque<Outgoing> outbox_;
    bool subscribed_ = false;
    bool lost_events_ = false;
};

} // namespace ptsched

#endif
