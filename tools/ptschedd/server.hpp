/* SPDX-License-Identifier: MIT */
/* The broker: its socket, its clock, and everything that lives while it runs. */
#ifndef PTSCHEDD_SERVER_HPP
#define PTSCHEDD_SERVER_HPP

#include "libptsched/base/be_prompt.hpp"
#include "tools/ptschedd/connection.hpp"
#include "tools/ptschedd/control.hpp"
#include "tools/ptschedd/device.hpp"
#include "tools/ptschedd/device_address.hpp"
#include "tools/ptschedd/event_loop.hpp"
#include "tools/ptschedd/groups.hpp"
#include "tools/ptschedd/module_events.hpp"
#include "tools/ptschedd/process.hpp"
#include "tools/ptschedd/switchboard.hpp"

#include <unordered_map>

namespace ptsched {

class Server final : public EventSink {
public:
    /* Throws std::system_error, or std::runtime_error with a sentence. */
    Server(const std::string &socket_path, const std::vector<DeviceName> &devices, const ptsp_params &params);
    Server(const Server &) = delete;
    Server &operator=(const Server &) = delete;
    ~Server();

    /* What the module decides is carried out, too. */
    void help_module();

    /* Until SIGTERM or SIGINT. */
    void run();
    /* Waits until something happens or is due, and deals with it. */
    void run_once();

    /* For connections. */
    EventLoop &loop() { return loop_; }
    DeviceList &devices() { return devices_; }
    Switchboard &switchboard() { return switchboard_; }
    Groups &groups() { return groups_; }
    int find_device(const std::string &name, Device *&device);
    /* Whether who can open @node may attach. Of an instance it is not known which GPU it is a part of: any will do. */
    bool suffices(const Device &device, std::uint64_t node) const;
    int client_of_handle(int fd, const Device &device, const Client *&found) const;
    int process_of_pidfd(UniqueFd pidfd, ProcessRef &process);
    const Process *parent_of(const Process &process) const { return processes_.find(process.parent()); }
    void doom(Connection &connection);
    /* This process's threads stay off its CPU. */
    void important_one_asks(int cpu);
    /* Connection::freed() once no dead process has files here, or when that takes too long. */
    void await_freed(Connection &connection, std::uint64_t id);
    void forget_awaiting(const Connection &connection)
    {
        std::erase_if(awaiting_, [&](const Awaiting &one) { return one.connection == &connection; });
    }
    void subscribe(Connection &connection) { subscribers_.push_back(&connection); }
    void unsubscribe(Connection &connection) { std::erase(subscribers_, &connection); }

    void event(std::uint32_t kind, const Device &device, const Entity *entity) override;

private:
    Device *add_instance(const std::string &name);
    void forget_instances();
    void listen(const std::string &path);
    void watch_signals();
    void accept_one();
    void turn_away(int socket, int error, const char *why);
    void bury();
    std::uint64_t next_ns() const;
    void run_what_is_due();
    void answer_awaiting();

    struct Awaiting {
        Connection *connection;
        std::uint64_t id;
        std::uint64_t until_ns;
    };

    EventLoop loop_;
    Switchboard switchboard_{loop_};
    ProcessTable processes_;
    Groups groups_; /* outlives the devices, whose entities are in them */
    DeviceList devices_;
    std::size_t instances_ = 0;        /* so many of the devices are such */
    std::uint32_t next_device_id_ = 0; /* ids are not used again */
    std::string socket_path_;
    UniqueFd listener_;
    UniqueFd signals_;
    std::unique_ptr<ModuleEvents> module_events_;
    /* Given up for a moment to turn a connection away when there are no more. */
    UniqueFd reserve_;
    int last_turned_away_ = 0; /* why */
    bool stopping_ = false;
    int important_cpu_ = -1;
    SleepingPlace place_;
    std::unordered_map<Connection *, std::unique_ptr<Connection>> connections_;
    std::vector<Connection *> subscribers_;
    std::vector<Awaiting> awaiting_;
    /* Ends that came up in the middle of something else. */
    bool doomed_ = false; /* some connection was stopped */
    std::vector<ProcessRef> gone_;
};

} // namespace ptsched

#endif
