// SPDX-License-Identifier: MIT
#include "tools/ptschedd/server.hpp"

#include "tools/ptschedd/log.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <system_error>

namespace ptsched {
namespace {

/* Sixteen GPUs of seven instances each. */
constexpr std::size_t kMostInstances = 112;

[[noreturn]] void fail(const std::string &what)
{
    throw std::system_error(errno, std::generic_category(), what);
}

UniqueFd checked(int fd, const char *what)
{
    if (fd < 0)
        fail(what);
    return UniqueFd(fd);
}

/* A client takes two descriptors, a process one. */
void raise_descriptor_limit()
{
    rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

bool somebody_listens(const sockaddr_un &address)
{
    UniqueFd probe = checked(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), "socket");
    return connect(probe.get(), reinterpret_cast<const sockaddr *>(&address), sizeof(address)) == 0 || errno == EAGAIN;
}

} // namespace

Server::Server(const std::string &socket_path, const std::vector<DeviceName> &devices, const ptsp_params &params)
    : processes_(loop_, [this](ProcessRef process) { gone_.push_back(std::move(process)); })
{
    raise_descriptor_limit();
    for (const DeviceName &name : devices) {
        devices_.push_back(std::make_unique<Device>(next_device_id_++, name.address, name.uuid, params, *this));
        devices_.back()->set_node(name.node);
    }
    reserve_ = checked(open("/dev/null", O_RDONLY | O_CLOEXEC), "/dev/null");
    watch_signals();
    listen(socket_path);
}

Server::~Server()
{
    if (!socket_path_.empty())
        unlink(socket_path_.c_str());
    for (auto &[connection, owner] : connections_)
        connection->abandon();
    connections_.clear();
}

void Server::listen(const std::string &path)
{
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    if (path.empty() || path.size() >= sizeof(address.sun_path))
        throw std::runtime_error("socket path '" + path + "': 1 to " + std::to_string(sizeof(address.sun_path) - 1) +
                                 " bytes are possible");
    path.copy(address.sun_path, path.size());
    std::filesystem::path folder = std::filesystem::path(path).parent_path();
    std::error_code error;
    if (!folder.empty())
        std::filesystem::create_directories(folder, error);

    struct stat status;
    if (lstat(path.c_str(), &status) == 0) {
        if (!S_ISSOCK(status.st_mode))
            throw std::runtime_error(path + " exists and is not a socket; remove it or choose another --socket");
        if (somebody_listens(address))
            throw std::runtime_error("a broker is running on " + path + " already");
        unlink(path.c_str());
    }
    listener_ = checked(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), "socket");
    mode_t mask = umask(geteuid() == 0 ? 0111 : 0177);
    int bound = bind(listener_.get(), reinterpret_cast<sockaddr *>(&address), sizeof(address));
    umask(mask);
    if (bound < 0)
        fail(path);
    socket_path_ = path;
    /* Inherited by accepted sockets, so that no message comes without its sender. */
    int on = 1;
    if (setsockopt(listener_.get(), SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) < 0)
        fail("SO_PASSCRED");
    if (::listen(listener_.get(), SOMAXCONN) < 0)
        fail(path);
    loop_.add(listener_.get(), EPOLLIN, [this](std::uint32_t) { accept_one(); });
}

void Server::watch_signals()
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    if (sigprocmask(SIG_BLOCK, &set, nullptr) < 0)
        fail("sigprocmask");
    signal(SIGPIPE, SIG_IGN);
    signals_ = checked(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK), "signalfd");
    loop_.add(signals_.get(), EPOLLIN, [this](std::uint32_t) { stopping_ = true; });
}

/* When the policy or the switchboard wants to act next. */
std::uint64_t Server::next_ns() const
{
    std::uint64_t next = switchboard_.next_ns();
    for (const Awaiting &one : awaiting_)
        next = std::min(next, one.until_ns);
    for (const auto &device : devices_) {
        next = std::min(next, device->next_ns());
        if (device->front().refused)
            next = std::min<std::uint64_t>(next, device->front().again_ns);
    }
    return next;
}

void Server::run_what_is_due()
{
    std::uint64_t now = monotonic_ns();
    for (auto &device : devices_) {
        if (device->next_ns() <= now)
            device->run();
        if (device->front().refused && device->front().again_ns <= now)
            groups_.again(*device);
    }
    switchboard_.run(now);
}

void Server::run()
{
    while (!stopping_) {
        run_once();
        place_.avoid(important_cpu_);
    }
}

void Server::run_once()
{
    loop_.run_once(next_ns());
    run_what_is_due();
    groups_.lead();
    bury();
    answer_awaiting();
}

void Server::important_one_asks(int cpu)
{
    important_cpu_ = cpu;
    switchboard_.stay_off(cpu);
}

/* Says why to whoever asked, who is hung up on. */
void Server::turn_away(int socket, int error, const char *why)
{
    struct {
        ptsched_broker_header header;
        ptsched_broker_refusal refusal;
    } message{};
    message.header.cmd = PTSCHED_BROKER_TURNED_AWAY;
    message.header.length = sizeof(message.refusal);
    message.header.result = -error;
    std::string_view(why).copy(message.refusal.text, sizeof(message.refusal.text) - 1);
    send(socket, &message, sizeof(message), MSG_DONTWAIT | MSG_NOSIGNAL);
    /* Not for each of many. */
    if (std::exchange(last_turned_away_, error) != error)
        warn("a process is turned away: %s", why);
}

void Server::accept_one()
{
    UniqueFd socket(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket) {
        if (errno != EMFILE && errno != ENFILE)
            return;
        reserve_.reset();
        socket.reset(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
        turn_away(socket.get(), ENFILE, "the broker has no descriptors left");
        socket.reset();
        reserve_.reset(open("/dev/null", O_RDONLY | O_CLOEXEC));
        return;
    }
    try {
        ProcessRef process = processes_.peer_of(socket.get());
        if (!process && errno == EXDEV)
            return turn_away(socket.get(), EXDEV,
                             "the broker is in another pid namespace and cannot see it, nor its nice value");
        if (!process) {
            debug("a peer is turned away: %s", strerror(errno));
            return;
        }
        auto connection = std::make_unique<Connection>(*this, std::move(socket), std::move(process));
        Connection *key = connection.get();
        connections_.emplace(key, std::move(connection));
    } catch (const std::exception &error) {
        warn("a connection is turned away: %s", error.what());
    }
}

void Server::doom(Connection &connection)
{
    /* Nothing that takes memory: there may be no more. */
    connection.stop();
    doomed_ = true;
}

/* Connections and processes that ended while something else was going on. */
void Server::bury()
{
    while (!gone_.empty() || doomed_) {
        std::vector<ProcessRef> gone = std::exchange(gone_, {});
        for (auto &[connection, owner] : connections_)
            for (const ProcessRef &process : gone)
                if (connection->process() == process)
                    doom(*connection);
        if (std::exchange(doomed_, false))
            std::erase_if(connections_, [](const auto &entry) { return entry.first->stopped(); });
        for (const ProcessRef &process : gone)
            for (auto &device : devices_)
                device->process_gone(*process);
        forget_instances();
    }
}

void Server::await_freed(Connection &connection, std::uint64_t id)
{
    awaiting_.push_back({&connection, id, monotonic_ns() + PTSCHED_BROKER_FREED_WITHIN_NS});
}

void Server::answer_awaiting()
{
    if (awaiting_.empty())
        return;
    const bool freed = !switchboard_.has_files_of_the_dead();
    const std::uint64_t now = monotonic_ns();
    /* Who cannot be answered leaves the list meanwhile. */
    for (const Awaiting &one : std::vector<Awaiting>(awaiting_)) {
        if (!freed && now < one.until_ns)
            continue;
        std::erase_if(awaiting_,
                      [&](const Awaiting &other) { return other.connection == one.connection && other.id == one.id; });
        one.connection->freed(one.id, freed ? 0 : -ETIMEDOUT);
    }
}

/*
 * Nobody but the programs that use them knows what instances there are: the first to attach brings it along, and it is
 * forgotten after the last. It begins with the settings of the first device.
 */
Device *Server::add_instance(const std::string &name)
{
    if (instances_ == kMostInstances)
        return nullptr;
    std::string lower = name;
    std::transform(lower.begin() + 4, lower.end(), lower.begin() + 4, [](unsigned char c) { return std::tolower(c); });
    devices_.push_back(
        std::make_unique<Device>(next_device_id_++, lower, lower, devices_.front()->policy().params, *this));
    instances_++;
    return devices_.back().get();
}

void Server::forget_instances()
{
    instances_ -= std::erase_if(
        devices_, [](const auto &device) { return is_instance(device->uuid()) && device->entities().empty(); });
}

int Server::find_device(const std::string &name, Device *&device)
{
    bool by_uuid = is_uuid(name);
    std::string address = canonical_address(name);
    if (!by_uuid && address.empty())
        return -EINVAL;
    for (auto &candidate : devices_) {
        if (by_uuid ? strcasecmp(candidate->uuid().c_str(), name.c_str()) == 0 : candidate->address() == address) {
            device = candidate.get();
            return 0;
        }
    }
    device = is_instance(name) && !devices_.empty() ? add_instance(name) : nullptr;
    return device ? 0 : -ENODEV;
}

bool Server::suffices(const Device &device, std::uint64_t node) const
{
    const bool any = is_instance(device.uuid());
    auto demands = [&](const auto &other) { return other->node() && (any || other.get() == &device); };
    auto fits = [&](const auto &other) { return demands(other) && other->node() == node; };
    return std::none_of(devices_.begin(), devices_.end(), demands) ||
           std::any_of(devices_.begin(), devices_.end(), fits);
}

int Server::client_of_handle(int fd, const Device &device, const Client *&found) const
{
    SharedPage::Secret secret;
    if (!read_secret(fd, secret))
        return -EINVAL;
    for (auto &[connection, unused] : connections_) {
        if (!connection->client() || connection->client()->page.secret() != secret)
            continue;
        if (connection->device() != &device)
            return -EINVAL;
        found = connection->client();
        return found->process->exited() ? -ESRCH : 0;
    }
    /* A secret of this form that nobody has: its client is gone. */
    return -ESRCH;
}

int Server::process_of_pidfd(UniqueFd pidfd, ProcessRef &process)
{
    process = processes_.of_pidfd(std::move(pidfd));
    if (process)
        return 0;
    return errno == EBADF ? -EINVAL : -errno;
}

void Server::help_module()
{
    auto handle = [this](const ModuleEvent &event) {
        switchboard_.event(event.kind, event.pid, event.device_id, event.turn);
    };
    module_events_ = std::make_unique<ModuleEvents>(loop_, handle, [this] { switchboard_.lost_events(); });
}

void Server::event(std::uint32_t kind, const Device &device, const Entity *entity)
{
    if (kind == PTSCHED_EVENT_GRANT)
        groups_.granted(*entity);
    try {
        if (entity)
            switchboard_.event(kind, entity->process->pid(), device.id(), entity->turn);
        if (subscribers_.empty())
            return;
        /* Whoever has hung up leaves the list meanwhile. */
        for (Connection *subscriber : std::vector<Connection *>(subscribers_)) {
            pid_t pid = entity ? subscriber->viewer().pid_of(*entity->process) : 0;
            if (pid || !entity)
                subscriber->send_event(describe_event(kind, device, entity, pid).bytes());
        }
    } catch (const std::exception &error) {
        warn("an event is lost: %s", error.what());
        for (Connection *subscriber : subscribers_)
            subscriber->lose_event();
    }
}

} // namespace ptsched
