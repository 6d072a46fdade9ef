// SPDX-License-Identifier: MIT
/* The virtual GPU as a daemon: the engine behind a Unix socket, for machines that cannot load vgpu.ko. */

#include "libptsched/base/time_calls.hpp"
#include "tools/ptschedd/event_loop.hpp"
#include <ptsched/base/fd.hpp>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

extern "C" {
#include "tests/vgpu/engine/rm.h"
#include "tests/vgpu/engine/service.h"
}

namespace {

using ptsched::monotonic_ns;
using ptsched::UniqueFd;

[[noreturn]] void fail(const std::string &what)
{
    throw std::system_error(errno, std::generic_category(), what);
}

std::string process_name(pid_t pid)
{
    std::ifstream file("/proc/" + std::to_string(pid) + "/comm");
    std::string name;
    std::getline(file, name);
    return name.empty() ? "?" : name;
}

class Daemon;

/* One client; gone when its socket ends or its process dies, whichever comes first. */
struct Connection {
    Daemon &daemon;
    UniqueFd socket;
    UniqueFd pidfd;
    std::uint64_t socket_key = 0, pidfd_key = 0; /* in the daemon's loop */
    vgpu_client client{};
    std::vector<char> in, out;
    bool fetchable = false;
    bool watching_out = false; /* the loop tells when there is room for more */

    Connection(Daemon &daemon, UniqueFd fd);
    ~Connection();
    Connection(const Connection &) = delete;
    Connection &operator=(const Connection &) = delete;

    bool readable();
    bool flush();
    bool handle(const vgpu_message &request, char *payload);
    void answer(const vgpu_message &request, int result, const void *data, std::size_t size, const void *more = nullptr,
                std::size_t more_size = 0);
    void append(const void *data, std::size_t size)
    {
        const char *bytes = static_cast<const char *>(data);
        out.insert(out.end(), bytes, bytes + size);
    }
    void fetch_completions();
    int create_context(vgpu_context_create &arg);
    int create_channel(vgpu_channel_create &arg);
    int destroy(const vgpu_destroy &arg);
    bool resource_manager(const vgpu_message &request, char *payload);
    void send_stats(const vgpu_message &request, vgpu_device_stats stats);
};

class Daemon {
public:
    vgpu_service service{};

    Daemon(const std::string &path, std::uint32_t devices, const vgpu_engine_config &config);
    ~Daemon();
    Daemon(const Daemon &) = delete;
    Daemon &operator=(const Daemon &) = delete;
    void run();

private:
    void accept_client();
    std::uint64_t settle();
    void drop(Connection &connection);
    void watch(Connection &connection);

    std::string path_;
    ptsched::EventLoop loop_;
    UniqueFd listen_, signals_;
    bool ending_ = false;
    std::map<int, std::unique_ptr<Connection>> connections_; /* by socket */
};

Connection::Connection(Daemon &daemon, UniqueFd fd) : daemon(daemon), socket(std::move(fd))
{
    ucred peer{};
    socklen_t size = sizeof(peer);

    if (getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
        fail("SO_PEERCRED");
    pidfd = UniqueFd(static_cast<int>(syscall(SYS_pidfd_open, peer.pid, 0)));
    if (pidfd.get() < 0)
        fail("pidfd_open " + std::to_string(peer.pid));
    client.private_data = this;
    vgpu_client_init(&client, &daemon.service, static_cast<std::uint32_t>(peer.pid), process_name(peer.pid).c_str());
}

Connection::~Connection()
{
    while (void *unused = vgpu_client_destroy_any(&client, monotonic_ns()))
        free(unused);
}

int Connection::create_context(vgpu_context_create &arg)
{
    auto *context = static_cast<vgpu_context *>(calloc(1, sizeof(vgpu_context)));
    auto *record = static_cast<vgpu_record *>(calloc(1, sizeof(vgpu_record)));
    int error = context && record ? vgpu_client_add_context(&client, context, &record, &arg, monotonic_ns()) : -ENOMEM;

    free(record);
    if (error)
        free(context);
    return error;
}

int Connection::create_channel(vgpu_channel_create &arg)
{
    auto *chan = static_cast<vgpu_chan *>(calloc(1, sizeof(vgpu_chan)));
    int error = chan ? vgpu_client_add_channel(&client, chan, &arg, monotonic_ns()) : -ENOMEM;

    if (error)
        free(chan);
    return error;
}

int Connection::destroy(const vgpu_destroy &arg)
{
    int error = 0;
    free(vgpu_client_destroy(&client, arg.handle, &error, monotonic_ns()));
    return error;
}

/* The structure of one of the resource manager's ioctls with its parameters behind it; both are answered. */
bool Connection::resource_manager(const vgpu_message &request, char *payload)
{
    std::vector<std::uint64_t> params(VGPU_RM_MAX_PARAMS / sizeof(std::uint64_t));
    auto split = [&](auto &arg) {
        if (request.size < sizeof(arg) || request.size - sizeof(arg) > VGPU_RM_MAX_PARAMS)
            return false;
        std::memcpy(&arg, payload, sizeof(arg));
        std::memcpy(params.data(), payload + sizeof(arg), request.size - sizeof(arg));
        return true;
    };
    struct vgpu_rm_alloc alloc;
    struct vgpu_rm_control control;
    struct vgpu_rm_free gone;

    switch (request.op) {
    case _IOC_NR(VGPU_RM_ALLOC): {
        if (!split(alloc))
            return false;
        auto *object = static_cast<vgpu_rm_object *>(calloc(1, sizeof(vgpu_rm_object)));
        vgpu_rm_alloc(&client, &alloc, params.data(), request.size - static_cast<std::uint32_t>(sizeof(alloc)),
                      &object);
        free(object);
        answer(request, 0, &alloc, sizeof(alloc));
        return true;
    }
    case _IOC_NR(VGPU_RM_CONTROL): {
        if (!split(control))
            return false;
        std::uint32_t size = request.size - static_cast<std::uint32_t>(sizeof(control));
        vgpu_rm_control(&client, &control, params.data(), size, monotonic_ns());
        answer(request, 0, &control, sizeof(control), params.data(), size);
        return true;
    }
    default:
        if (!split(gone))
            return false;
        for (vgpu_rm_object *object = vgpu_rm_free(&client, &gone); object;)
            free(std::exchange(object, object->next));
        answer(request, 0, &gone, sizeof(gone));
        return true;
    }
}

void Connection::answer(const vgpu_message &request, int result, const void *data, std::size_t size, const void *more,
                        std::size_t more_size)
{
    vgpu_message header{request.op, static_cast<std::uint32_t>(size + more_size), result, request.cookie};
    append(&header, sizeof(header));
    if (size)
        append(data, size);
    if (more_size)
        append(more, more_size);
}

void Connection::send_stats(const vgpu_message &request, vgpu_device_stats stats)
{
    std::uint32_t count = 0;
    int error = vgpu_service_stats(&daemon.service, &stats, nullptr, &count, monotonic_ns());
    std::vector<vgpu_owner_stats> owners(error ? 0 : count);

    if (!error)
        error = vgpu_service_stats(&daemon.service, &stats, owners.data(), &count, monotonic_ns());
    stats.owner_count = static_cast<std::uint32_t>(owners.size());
    answer(request, error, &stats, sizeof(stats), owners.data(), owners.size() * sizeof(owners[0]));
}

/* Runs a request whose structure is answered in place, if it has the right size. */
template <typename T, typename F> bool fixed(Connection &c, const vgpu_message &request, char *payload, F function)
{
    if (request.size != sizeof(T))
        return false;
    T arg;
    std::memcpy(&arg, payload, sizeof(arg));
    int error = function(arg);
    c.answer(request, error, &arg, sizeof(arg));
    return true;
}

/* False: not the protocol; the connection is dropped. */
bool Connection::handle(const vgpu_message &request, char *payload)
{
    switch (request.op) {
    case _IOC_NR(VGPU_IOC_INFO):
        return fixed<vgpu_info>(*this, request, payload, [&](vgpu_info &info) {
            vgpu_service_info(&daemon.service, &info);
            return 0;
        });
    case _IOC_NR(VGPU_IOC_CONTEXT):
        return fixed<vgpu_context_create>(*this, request, payload, [&](auto &arg) { return create_context(arg); });
    case _IOC_NR(VGPU_IOC_CHANNEL):
        return fixed<vgpu_channel_create>(*this, request, payload, [&](auto &arg) { return create_channel(arg); });
    case _IOC_NR(VGPU_IOC_DESTROY):
        return fixed<vgpu_destroy>(*this, request, payload, [&](auto &arg) { return destroy(arg); });
    case _IOC_NR(VGPU_IOC_CONTROL):
        return fixed<vgpu_control>(*this, request, payload,
                                   [&](auto &arg) { return vgpu_client_control(&client, &arg, monotonic_ns()); });
    case _IOC_NR(VGPU_IOC_MEMORY):
        return fixed<vgpu_memory>(*this, request, payload,
                                  [&](auto &arg) { return vgpu_client_memory(&client, &arg); });
    case _IOC_NR(VGPU_RM_ALLOC):
    case _IOC_NR(VGPU_RM_CONTROL):
    case _IOC_NR(VGPU_RM_FREE):
        return resource_manager(request, payload);
    case _IOC_NR(VGPU_IOC_SUBMIT): {
        std::uint32_t count = request.size / sizeof(vgpu_work);
        if (!count || request.size % sizeof(vgpu_work))
            return false;
        std::vector<vgpu_work> works(count);
        std::memcpy(works.data(), payload, request.size);
        int accepted = vgpu_client_submit(&client, works.data(), count, monotonic_ns());
        if (accepted != static_cast<int>(count))
            answer(request, accepted < 0 ? accepted : -EAGAIN, nullptr, 0);
        return true;
    }
    case _IOC_NR(VGPU_IOC_STATS): {
        vgpu_device_stats stats;
        if (request.size != sizeof(stats))
            return false;
        std::memcpy(&stats, payload, sizeof(stats));
        send_stats(request, stats);
        return true;
    }
    case _IOC_NR(VGPU_IOC_RESET_STATS):
        for (vgpu_record *record = vgpu_service_reset(&daemon.service, monotonic_ns()); record;)
            free(std::exchange(record, record->next));
        answer(request, 0, nullptr, 0);
        return true;
    default:
        return false;
    }
}

/* False: the peer is gone or does not speak the protocol. */
bool Connection::readable()
{
    char buffer[16384];
    ssize_t n = recv(socket.get(), buffer, sizeof(buffer), MSG_DONTWAIT);

    if (n < 0)
        return errno == EAGAIN || errno == EINTR;
    if (n == 0)
        return false;
    in.insert(in.end(), buffer, buffer + n);
    std::size_t at = 0;
    vgpu_message header;
    while (in.size() - at >= sizeof(header)) {
        std::memcpy(&header, in.data() + at, sizeof(header));
        if (header.size > VGPU_MSG_MAX_SIZE)
            return false;
        if (in.size() - at < sizeof(header) + header.size)
            break;
        if (!handle(header, in.data() + at + sizeof(header)))
            return false;
        at += sizeof(header) + header.size;
    }
    in.erase(in.begin(), in.begin() + static_cast<std::ptrdiff_t>(at));
    return true;
}

void Connection::fetch_completions()
{
    vgpu_completion done[64];

    while (std::uint32_t n = vgpu_client_fetch(&client, done, 64)) {
        vgpu_message header{VGPU_MSG_COMPLETIONS, static_cast<std::uint32_t>(n * sizeof(done[0])), 0, 0};
        append(&header, sizeof(header));
        append(done, n * sizeof(done[0]));
    }
    fetchable = false;
}

bool Connection::flush()
{
    if (out.empty())
        return true;
    ssize_t n = send(socket.get(), out.data(), out.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n < 0 && errno != EAGAIN && errno != EINTR)
        return false;
    if (n > 0)
        out.erase(out.begin(), out.begin() + n);
    /* A peer that asks and never reads what it asked for. */
    return out.size() <= 4 * VGPU_MSG_MAX_SIZE;
}

Daemon::Daemon(const std::string &path, std::uint32_t devices, const vgpu_engine_config &config) : path_(path)
{
    sockaddr_un address{};
    sigset_t set;

    if (path.empty() || path.size() >= sizeof(address.sun_path))
        throw std::invalid_argument("socket path \"" + path + "\" must have 1 to " +
                                    std::to_string(sizeof(address.sun_path) - 1) + " characters");
    vgpu_service_init(
        &service, devices, &config,
        [](vgpu_client *client) { static_cast<Connection *>(client->private_data)->fetchable = true; }, monotonic_ns());
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigprocmask(SIG_BLOCK, &set, nullptr);
    signals_ = UniqueFd(signalfd(-1, &set, SFD_CLOEXEC));
    listen_ = UniqueFd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (signals_.get() < 0 || listen_.get() < 0)
        fail("cannot start");
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.c_str(), path.size());
    unlink(path.c_str());
    if (bind(listen_.get(), reinterpret_cast<sockaddr *>(&address), sizeof(address)) < 0 ||
        listen(listen_.get(), 128) < 0)
        fail("cannot listen on " + path);
    loop_.add(listen_.get(), EPOLLIN, [this](std::uint32_t) { accept_client(); });
    loop_.add(signals_.get(), EPOLLIN, [this](std::uint32_t) { ending_ = true; });
}

Daemon::~Daemon()
{
    unlink(path_.c_str());
    connections_.clear();
    for (vgpu_record *record = service.records; record;)
        free(std::exchange(record, record->next));
}

void Daemon::accept_client()
{
    UniqueFd fd(accept4(listen_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!fd)
        return;
    std::unique_ptr<Connection> owned;
    try {
        owned = std::make_unique<Connection>(*this, std::move(fd));
    } catch (const std::system_error &error) {
        /* It died before it could be served. */
        std::fprintf(stderr, "vgpud: client refused: %s\n", error.what());
        return;
    }
    Connection &connection = *owned;
    connections_[connection.socket.get()] = std::move(owned);
    connection.socket_key = loop_.add(connection.socket.get(), EPOLLIN, [this, &connection](std::uint32_t events) {
        /* The hang-up of a reader does not matter: its process's death does. */
        if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) && !connection.readable())
            drop(connection);
    });
    connection.pidfd_key =
        loop_.add(connection.pidfd.get(), EPOLLIN, [this, &connection](std::uint32_t) { drop(connection); });
}

void Daemon::drop(Connection &connection)
{
    loop_.remove(connection.socket_key, connection.socket.get());
    loop_.remove(connection.pidfd_key, connection.pidfd.get());
    connections_.erase(connection.socket.get());
}

/* Has the loop tell of room in the socket as long as something is left to be sent. */
void Daemon::watch(Connection &connection)
{
    bool left = !connection.out.empty();

    if (connection.watching_out == left)
        return;
    connection.watching_out = left;
    loop_.change(connection.socket_key, connection.socket.get(), left ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

/* Brings the devices up to now and hands out what has come. Returns when the next event comes. */
std::uint64_t Daemon::settle()
{
    std::uint64_t next;
    bool dropped;

    /* Where a client goes, others' work goes on: the next event is another one then. */
    do {
        next = vgpu_service_advance(&service, monotonic_ns());
        dropped = false;
        for (auto it = connections_.begin(); it != connections_.end();) {
            Connection *connection = (it++)->second.get();
            if (connection->fetchable)
                connection->fetch_completions();
            if (connection->flush()) {
                watch(*connection);
            } else {
                drop(*connection);
                dropped = true;
            }
        }
    } while (dropped);
    return next;
}

void Daemon::run()
{
    static_assert(VGPU_NEVER == ptsched::kNoLimit);
    for (std::uint64_t next = VGPU_NEVER; !ending_; next = settle())
        loop_.run_once(next);
}

} // namespace

int main(int argc, char **argv)
{
    CLI::App app{"Virtual GPU over a Unix socket: a test device that schedules as real ones were measured to."};
    std::string socket = "/run/ptsched/vgpu.sock";
    std::string mode = "timesliced";
    std::uint32_t devices = 1;
    vgpu_engine_config config = vgpu_default_config;
    int ready_fd = -1;
    std::uint32_t switch_calls = VGPU_UNLIMITED;
    bool switch_ignored = false;
    std::uint64_t memory = VGPU_MEMORY_BYTES;

    app.add_option("--socket", socket, "where to listen")->envname("PTSCHED_VGPU_SOCKET")->capture_default_str();
    app.add_option("--devices", devices, "how many devices")
        ->check(CLI::Range(1, VGPU_MAX_DEVICES))
        ->take_last()
        ->capture_default_str();
    app.add_option("--mode", mode, "timesliced, or nonpreemptive as hardware was in 2011")
        ->check(CLI::IsMember({"timesliced", "nonpreemptive"}))
        ->capture_default_str();
    app.add_option("--slice-us", config.slice_us[VGPU_COMPUTE], "compute time slice")
        ->check(CLI::Range(1, 1000000))
        ->capture_default_str();
    app.add_option("--scale", config.scale, "multiplies every time")->check(CLI::Range(1, 1000))->capture_default_str();
    app.add_option("--memory", memory, "bytes of memory that each device has")
        ->envname("PTSCHED_VGPU_MEMORY")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--switch-calls", switch_calls, "refuse to take channels off after so many times (default: never)");
    app.add_flag("--switch-ignored", switch_ignored, "take channels off in words only");
    app.add_option("--ready-fd", ready_fd, "write a line to this descriptor once clients can connect");
    CLI11_PARSE(app, argc, argv);
    config.mode = mode == "nonpreemptive" ? VGPU_NONPREEMPTIVE : VGPU_TIMESLICED;
    try {
        Daemon daemon(socket, devices, config);
        daemon.service.switch_calls = switch_calls;
        daemon.service.switch_ignored = switch_ignored;
        daemon.service.memory_bytes = memory;
        if (ready_fd >= 0 && write(ready_fd, "ready\n", 6) != 6)
            fail("--ready-fd " + std::to_string(ready_fd));
        daemon.run();
    } catch (const std::exception &error) {
        std::fprintf(stderr, "vgpud: %s\n", error.what());
        return 1;
    }
    return 0;
}
