// SPDX-License-Identifier: MIT
#include "tests/conformance/scheduler.hpp"

#include "tests/conformance/genl.hpp"
#include "tests/conformance/tap.hpp"
#include "tests/threads.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

namespace scheduler {
namespace {

ptsched_backend chosen = PTSCHED_BACKEND_MODULE;
pid_t broker = -1;
std::string folder;

[[noreturn]] void die(const std::string &text)
{
    throw tap::Failure(text + ": " + strerror(errno));
}

std::size_t size_of(int attribute)
{
    switch (attribute) {
    case PTSCHED_A_IDLE_SHARING:
    case PTSCHED_A_MANY:
        return 1;
    case PTSCHED_A_SLICE_NS:
    case PTSCHED_A_GRACE_NS:
    case PTSCHED_A_DRAIN_NS:
    case PTSCHED_A_INFLIGHT_NS:
    case PTSCHED_A_NODE:
        return 8;
    default:
        return 4;
    }
}

/* Line by line: results go to the same place, and one behind half a line would not be seen. */
[[noreturn]] void forward(int from)
{
    FILE *file = fdopen(from, "r");
    char *line = nullptr;
    std::size_t room = 0;
    ssize_t length;
    while (file && (length = getline(&line, &room, file)) > 0) {
        std::string whole(line, static_cast<std::size_t>(length));
        if (whole.back() != '\n')
            whole += '\n';
        if (write(STDERR_FILENO, whole.data(), whole.size()) < 0)
            break;
    }
    _exit(0);
}

/* With @uid as that user's. */
std::unique_ptr<genl::Channel> open_channel(uid_t uid = 0)
{
    const uid_t before = geteuid();
    if (uid && seteuid(uid) < 0)
        die("seteuid");
    auto channel = chosen == PTSCHED_BACKEND_MODULE ? genl::open_netlink() : genl::open_broker(socket_path());
    if (uid && seteuid(before) < 0)
        die("seteuid");
    return channel;
}

} // namespace

std::string socket_path()
{
    return folder + "/broker.sock";
}

pid_t broker_pid()
{
    return broker;
}

std::string default_broker()
{
    char path[4096] = {};
    ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
    std::string self = length > 0 ? path : "";
    return self.substr(0, self.rfind('/')) + "/../bin/ptschedd";
}

ptsched_backend backend()
{
    return chosen;
}

void use_module()
{
    chosen = PTSCHED_BACKEND_MODULE;
}

void start_broker(const std::string &program)
{
    chosen = PTSCHED_BACKEND_BROKER;
    char name[] = "/tmp/ptsched-test-XXXXXX";
    if (!mkdtemp(name) || chmod(name, 0755) < 0)
        die(name);
    folder = name;
    setenv("PTSCHED_SOCKET", socket_path().c_str(), 1);

    int ready[2];
    if (pipe2(ready, O_CLOEXEC) < 0)
        die("pipe2");
    broker = fork();
    if (broker == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(ready[1], STDERR_FILENO);
        execl(program.c_str(), program.c_str(), "--test-devices", "2", nullptr);
        _exit(127);
    }
    close(ready[1]);
    /* Its messages come through here; when it listens, it says so. */
    std::string said;
    char text[256];
    ssize_t got;
    while (said.find("listening") == std::string::npos && (got = read(ready[0], text, sizeof(text))) > 0)
        said.append(text, static_cast<std::size_t>(got));
    if (said.find("listening") == std::string::npos)
        throw tap::Failure(program + " did not start: " + said);
    /* The rest, a sanitizer's report for example, goes where ours goes. */
    if (fork() == 0)
        forward(ready[0]);
    close(ready[0]);
}

void stop_broker()
{
    if (broker < 0)
        return;
    kill(broker, SIGTERM);
    int status = 0;
    waitpid(broker, &status, 0);
    while (wait(nullptr) > 0)
        continue;
    rmdir(folder.c_str());
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        throw tap::Failure("the broker ended with status " + std::to_string(status));
}

Reply request(int cmd, const Attributes &attributes)
{
    genl::Payload payload = genl::begin(static_cast<std::uint8_t>(cmd));
    for (auto [attribute, value] : attributes)
        genl::append(payload, static_cast<std::uint16_t>(attribute), &value, size_of(attribute));
    auto fd = attributes.find(PTSCHED_A_CGROUP_FD);
    return open_channel()->transact(payload, fd == attributes.end() ? -1 : static_cast<int>(fd->second));
}

void set(const Attributes &attributes)
{
    Reply reply = request(PTSCHED_CMD_SET_DEVICE, attributes);
    CHECK_EQ(0, reply.error);
}

void reset_settings()
{
    set({{PTSCHED_A_POLICY, PTSCHED_POLICY_WEIGHTED},
         {PTSCHED_A_GROUPING, PTSCHED_GROUPING_PROCESS},
         {PTSCHED_A_IDLE_SHARING, 1},
         {PTSCHED_A_MANY, 0},
         {PTSCHED_A_SLICE_NS, PTSCHED_SLICE_MAX_NS},
         {PTSCHED_A_GRACE_NS, kMillisecond},
         {PTSCHED_A_DRAIN_NS, PTSCHED_DRAIN_MAX_NS},
         {PTSCHED_A_INFLIGHT_NS, 2 * kMillisecond},
         {PTSCHED_A_ALPHA, 1000}});
}

Attributes device()
{
    Reply reply = request(PTSCHED_CMD_GET_DEVICE, {});
    CHECK_EQ(0, reply.error);
    CHECK_EQ(2, reply.messages.size());
    return reply.messages[0];
}

std::optional<Attributes> entity(pid_t pid, const char *device)
{
    Reply reply = request(PTSCHED_CMD_GET_ENTITY, {});
    CHECK_EQ(0, reply.error);
    /* The first device was made first. */
    std::int64_t first = scheduler::device().at(PTSCHED_A_DEVICE_ID);
    bool on_first = strcmp(device, kDevice) == 0;
    for (Attributes &found : reply.messages)
        if (found[PTSCHED_A_PID] == pid && (found[PTSCHED_A_DEVICE_ID] == first) == on_first)
            return found;
    return std::nullopt;
}

std::optional<Attributes> account(int attribute, std::int64_t value)
{
    Reply reply = request(PTSCHED_CMD_GET_ACCOUNT, {{PTSCHED_A_DEVICE_ID, device().at(PTSCHED_A_DEVICE_ID)}});
    CHECK_EQ(0, reply.error);
    for (Attributes &found : reply.messages)
        if (found.contains(attribute) && found[attribute] == value)
            return found;
    return std::nullopt;
}

void wait_for_state(pid_t pid, int state)
{
    wait_until([&] {
        auto found = entity(pid);
        return found && (*found)[PTSCHED_A_STATE] == state;
    });
}

void wait_until_gone(pid_t pid)
{
    wait_until([&] { return !entity(pid); });
}

void wait_until_asleep(pid_t tid)
{
    test::ThreadState state(tid);
    wait_until([&] { return state.get() == 'S'; });
}

void wait_for_budget(pid_t pid)
{
    wait_until([&] {
        auto found = entity(pid);
        return found && (*found)[PTSCHED_A_BUDGET_NS] >= 0;
    });
}

Viewer::Viewer(uid_t uid) : channel_(open_channel(uid)) {}

Viewer::~Viewer() = default;

std::set<pid_t> Viewer::processes()
{
    Reply reply = channel_->transact(genl::begin(PTSCHED_CMD_GET_ENTITY));
    CHECK_EQ(0, reply.error);
    std::set<pid_t> found;
    for (Attributes &entity : reply.messages)
        found.insert(static_cast<pid_t>(entity.at(PTSCHED_A_PID)));
    return found;
}

Events::Events(uid_t uid) : fd_(open_channel(uid)->subscribe()) {}

Attributes Events::next()
{
    return genl::next_event(fd_.get(), chosen == PTSCHED_BACKEND_MODULE);
}

RawClient::RawClient()
{
    if (chosen == PTSCHED_BACKEND_MODULE)
        fd_.reset(open("/dev/" PTSCHED_NODE_NAME, O_RDWR | O_CLOEXEC));
    else
        fd_ = genl::connect_to(socket_path());
    if (!fd_)
        die("opening the scheduler");
}

int RawClient::call(std::uint32_t cmd, void *argument, std::uint32_t length, int fd)
{
    if (chosen == PTSCHED_BACKEND_MODULE)
        return ioctl(fd_.get(), cmd, argument) < 0 ? -errno : 0;
    ptsched_broker_header header{};
    header.cmd = cmd;
    header.length = length;
    header.id = ++id_;
    header.tid = static_cast<std::uint32_t>(gettid());
    return genl::call(fd_.get(), header, argument, fd);
}

int RawClient::attach(const char *device, std::uint32_t mechanism)
{
    struct ptsched_attach attach {};
    attach.size = sizeof(attach);
    attach.mechanism = mechanism;
    std::string(device).copy(attach.device, sizeof(attach.device));
    return call(PTSCHED_IOC_ATTACH, attach);
}

void pause_briefly()
{
    poll(nullptr, 0, 1);
}

} // namespace scheduler
