// SPDX-License-Identifier: MIT
/*
 * Fuzz target: what the broker reads from its clients' sockets. An input is what some processes do with connections to
 * a broker that lives in the target: messages in order and out of it, descriptors, ends, and time between them.
 */
#include "libptsched/base/passed_fds.hpp"
#include "tests/fuzz/broker_messages.hpp"
#include "tests/fuzz/check.hpp"
#include "tests/fuzz/fuzz_clock.hpp"
#include "tests/fuzz/input.h"
#include "tests/fuzz/peers.hpp"
#include "tools/ptschedd/log.hpp"
#include "tools/ptschedd/server.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <map>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

namespace {

/* What the broker would print is formatted, and nothing else. */
void format_only(const char *format, va_list arguments)
{
    char line[512];
    vsnprintf(line, sizeof(line), format, arguments);
}

} // namespace

void ptsched::warn(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    format_only(format, arguments);
    va_end(arguments);
}

void ptsched::debug(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    format_only(format, arguments);
    va_end(arguments);
}

namespace {

using ptsched::UniqueFd;

constexpr std::size_t kMostLines = 12;
constexpr std::size_t kMostSteps = 400;
constexpr std::size_t kMostHandles = 8;
/* Without time passing, no more happens by itself. */
constexpr unsigned kMostRounds = 10000;

class InputChoices final : public Choices {
public:
    explicit InputChoices(fuzz_input &input) : input_(input) {}

    unsigned below(unsigned limit) override
    {
        unsigned value = fuzz_byte(&input_);
        if (limit > 256)
            value = value << 8 | fuzz_byte(&input_);
        return value % limit;
    }
    std::uint64_t number() override { return fuzz_time(&input_); }

private:
    fuzz_input &input_;
};

/* A call may have any size. */
bool is_call(const ptsched_broker_header &header, std::uint32_t call)
{
    constexpr std::uint32_t mask = ~(_IOC_SIZEMASK << _IOC_SIZESHIFT);
    return (header.cmd & mask) == (call & mask);
}

/* A connection, as its process sees it. */
struct Line {
    UniqueFd socket;
    std::size_t process;
    /* So many requests with this id may be answered. */
    std::map<std::uint64_t, unsigned> asked;
    bool subscribed = false;
};

class World {
public:
    World(fuzz::Peers &peers, const std::string &path, fuzz_input &input)
        : peers_(peers), input_(input), choices_(input), messages_(choices_),
          server_(path, {{"ffff:01:00.0", ""}, {"ffff:02:00.0", ""}}, first_settings(input))
    {
    }

    void run()
    {
        for (std::size_t step = 0; step < kMostSteps && !fuzz_is_empty(&input_); step++)
            take_step();
        end();
    }

private:
    static ptsp_params first_settings(fuzz_input &input);
    void take_step();
    void end();
    void connect();
    void say(Line &line);
    UniqueFd some_file();
    void send(Line &line, const BrokerMessages::Bytes &bytes);
    static void expect_answer(Line &line, const BrokerMessages::Bytes &bytes);
    void read_answers(Line &line);
    static void check_answer(Line &line, const char *message, std::size_t length, std::size_t fds);
    void settle();
    void pass(std::uint64_t ns);
    void check();
    static void check(const ptsched::Device &device);
    static void check_cgroups(const ptsched::Device &device);

    fuzz::Peers &peers_;
    fuzz_input &input_;
    InputChoices choices_;
    BrokerMessages messages_;
    ptsched::Server server_;
    std::vector<Line> lines_;
    std::vector<UniqueFd> handles_;
};

ptsp_params World::first_settings(fuzz_input &input)
{
    ptsp_params params = ptsp_default_params();
    params.grouping = static_cast<ptsp_grouping>(fuzz_below(&input, PTSP_BY_CGROUP + 1));
    return params;
}

void World::take_step()
{
    std::uint8_t what = fuzz_byte(&input_);
    if (lines_.empty() || what < 16)
        return connect();
    std::size_t which = fuzz_below(&input_, static_cast<std::uint8_t>(lines_.size()));
    if (what < 24) {
        lines_.erase(lines_.begin() + static_cast<long>(which));
    } else if (what < 28) {
        peers_.kill(lines_[which].process);
    } else if (what < 32) {
        setpriority(PRIO_PROCESS, static_cast<id_t>(peers_.pid(lines_[which].process)),
                    static_cast<int>(choices_.below(40)) - 20);
    } else if (what < 64) {
        return pass(fuzz_time_within(&input_, 0, 3000000000));
    } else if (what < 96) {
        read_answers(lines_[which]);
    } else {
        say(lines_[which]);
        /* Several messages may be there before the broker looks. */
        if (what < 112)
            return;
    }
    settle();
}

void World::connect()
{
    std::size_t process = fuzz_below(&input_, fuzz::Peers::kMost);
    if (lines_.size() == kMostLines)
        return;
    UniqueFd socket = peers_.connect(process);
    CHECK(socket);
    lines_.push_back({std::move(socket), process, {}});
    settle();
}

void World::say(Line &line)
{
    BrokerMessages::Bytes bytes;
    switch (fuzz_below(&input_, 16)) {
    case 0:
        bytes = messages_.noise(choices_.below(PTSCHED_BROKER_MAX_MESSAGE + 64));
        break;
    case 1:
    case 2:
    case 3:
        bytes = messages_.tool_message();
        break;
    case 4:
        bytes = messages_.contract_message();
        messages_.damage(bytes);
        break;
    case 5:
        bytes = messages_.tool_message();
        messages_.damage(bytes);
        break;
    default:
        bytes = messages_.contract_message();
    }
    send(line, bytes);
}

UniqueFd World::some_file()
{
    switch (fuzz_below(&input_, 6)) {
    case 0:
        return UniqueFd(open("/dev/null", O_RDONLY | O_CLOEXEC));
    case 1:
        return UniqueFd(memfd_create("fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    case 2:
    case 3: {
        pid_t pid = peers_.pid(fuzz_below(&input_, fuzz::Peers::kMost));
        return UniqueFd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
    }
    default:
        if (handles_.empty())
            return {};
        return UniqueFd(
            fcntl(handles_[fuzz_below(&input_, static_cast<std::uint8_t>(handles_.size()))].get(), F_DUPFD_CLOEXEC, 0));
    }
}

/* In the name of the line's process, where this one may say so. */
void World::send(Line &line, const BrokerMessages::Bytes &bytes)
{
    iovec part{const_cast<char *>(bytes.data()), bytes.size()};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    std::array<UniqueFd, 3> files;
    std::size_t count = 0;
    for (unsigned wanted = fuzz_byte(&input_) % 8; wanted > 4 && count < files.size(); wanted--)
        if (UniqueFd file = some_file())
            files[count++] = std::move(file);

    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(ucred)) + CMSG_SPACE(3 * sizeof(int))> control{};
    message.msg_control = control.data();
    message.msg_controllen = CMSG_SPACE(sizeof(ucred)) + (count ? CMSG_SPACE(count * sizeof(int)) : 0);
    cmsghdr *head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_CREDENTIALS;
    head->cmsg_len = CMSG_LEN(sizeof(ucred));
    const bool may_name_others = geteuid() == 0;
    const ucred sender{may_name_others ? peers_.pid(line.process) : getpid(), getuid(), getgid()};
    memcpy(CMSG_DATA(head), &sender, sizeof(sender));
    if (count) {
        head = CMSG_NXTHDR(&message, head);
        head->cmsg_level = SOL_SOCKET;
        head->cmsg_type = SCM_RIGHTS;
        head->cmsg_len = CMSG_LEN(count * sizeof(int));
        for (std::size_t i = 0; i < count; i++) {
            int fd = files[i].get();
            memcpy(CMSG_DATA(head) + i * sizeof(fd), &fd, sizeof(fd));
        }
    }
    if (sendmsg(line.socket.get(), &message, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0)
        expect_answer(line, bytes);
}

void World::expect_answer(Line &line, const BrokerMessages::Bytes &bytes)
{
    ptsched_broker_header header;
    if (bytes.size() < sizeof(header))
        return;
    memcpy(&header, bytes.data(), sizeof(header));
    const bool silent = header.flags & PTSCHED_BROKER_NO_REPLY &&
                        (is_call(header, PTSCHED_IOC_RELEASE) || is_call(header, PTSCHED_IOC_REPORT) ||
                         is_call(header, PTSCHED_IOC_ACK));
    if (!silent)
        line.asked[header.id]++;
    line.subscribed = line.subscribed || header.cmd == PTSCHED_BROKER_SUBSCRIBE;
}

void World::read_answers(Line &line)
{
    for (;;) {
        std::array<char, PTSCHED_BROKER_MAX_MESSAGE> buffer;
        iovec part{buffer.data(), buffer.size()};
        msghdr message{};
        message.msg_iov = &part;
        message.msg_iovlen = 1;
        ptsched::PassedFds<8> passed;
        passed.make_room(message);
        ssize_t got = recvmsg(line.socket.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
        if (got <= 0)
            return;
        CHECK(!(message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)));
        std::vector<UniqueFd> fds = ptsched::take_fds(message);
        check_answer(line, buffer.data(), static_cast<std::size_t>(got), fds.size());
        if (fds.size() == PTSCHED_BROKER_NR_FDS && handles_.size() < kMostHandles)
            handles_.push_back(std::move(fds[PTSCHED_BROKER_FD_HANDLE]));
    }
}

void World::check_answer(Line &line, const char *message, std::size_t length, std::size_t fds)
{
    ptsched_broker_header header;
    CHECK(length >= sizeof(header));
    memcpy(&header, message, sizeof(header));
    CHECK(header.length == length - sizeof(header));
    CHECK(header.result <= 0 && header.flags == 0);
    CHECK(fds == (is_call(header, PTSCHED_IOC_ATTACH) && header.result == 0 ? PTSCHED_BROKER_NR_FDS : 0));
    /* A request may have any number, and is answered with it. */
    const bool is_unknown = header.result == -ENOTTY;
    if (header.cmd == PTSCHED_BROKER_EVENT && !is_unknown) {
        CHECK(line.subscribed && header.id == 0);
        CHECK(header.result == 0 || (header.result == -ENOBUFS && header.length == 0));
        return;
    }
    CHECK(header.cmd != PTSCHED_BROKER_TURNED_AWAY || is_unknown);
    CHECK(line.asked[header.id] > 0);
    const bool is_part = header.cmd == PTSCHED_BROKER_GENL && header.result == 0 && header.length > 0;
    if (!is_part)
        line.asked[header.id]--;
    if (header.result != 0)
        CHECK(header.length == 0 ||
              (header.cmd == PTSCHED_BROKER_GENL && header.length == sizeof(ptsched_broker_refusal)));
}

/* Until nothing happens any more without time. */
void World::settle()
{
    fuzz_clock::set_limit(fuzz_clock::now_ns());
    unsigned rounds = 0;
    do {
        CHECK(rounds++ < kMostRounds);
        server_.run_once();
    } while (fuzz_clock::had_event());
    check();
}

void World::pass(std::uint64_t ns)
{
    const std::uint64_t end = fuzz_clock::now_ns() + ns;
    fuzz_clock::set_limit(end);
    unsigned still = 0;
    while (fuzz_clock::now_ns() < end) {
        const std::uint64_t before = fuzz_clock::now_ns();
        server_.run_once();
        still = before == fuzz_clock::now_ns() ? still + 1 : 0;
        CHECK(still < kMostRounds);
    }
    check();
}

void World::check()
{
    for (const auto &device : server_.devices())
        check(*device);
}

void World::check(const ptsched::Device &device)
{
    std::uint32_t waiters = 0, holders = 0;
    for (const auto &[process, entity] : device.entities()) {
        std::size_t holds = 0, calls = 0;
        for (const ptsched::Client *client : entity->members) {
            CHECK(client->entity == entity.get());
            holds += client->contract->holds;
            calls += client->waiters.size();
            CHECK(!client->contract->closed && client->contract->nr_waiters == client->waiters.size());
        }
        const ptsc_entity &counted = entity->contract;
        CHECK(counted.nr_owned > 0 || !entity->members.empty());
        CHECK(counted.nr_members == entity->members.size());
        CHECK(counted.nr_members <= PTSCHED_CLIENTS_MAX && counted.nr_owned <= PTSCHED_CLIENTS_MAX);
        CHECK(holds == counted.nr_holds && calls == counted.nr_waiters);
        CHECK((entity->state == PTSP_HOLDING) == (holds > 0));
        CHECK((entity->state == PTSP_WAITING) == (calls > 0 && !holds));
        waiters += entity->state == PTSP_WAITING;
        holders += entity->state == PTSP_HOLDING;
    }
    CHECK(device.policy().nr_entities == device.entities().size());
    CHECK(device.policy().nr_waiters == waiters && device.policy().nr_holders == holders);
    check_cgroups(device);
}

void World::check_cgroups(const ptsched::Device &device)
{
    std::map<const ptsched::Cgroup *, unsigned> entities, children;
    for (const auto &[process, entity] : device.entities()) {
        const ptsched::Cgroup *cgroup = entity->cgroup.get();
        CHECK(!cgroup || entity->user == &cgroup->account);
        for (; cgroup; cgroup = cgroup->parent)
            entities[cgroup]++;
    }
    for (const auto &[number, cgroup] : device.cgroups().all())
        children[cgroup.parent]++;
    for (const auto &[number, cgroup] : device.cgroups().all())
        CHECK(cgroup.number == number && cgroup.entities == entities[&cgroup] && cgroup.children == children[&cgroup]);
}

/* Whatever the peers did, nothing is left of them. */
void World::end()
{
    for (Line &line : lines_)
        read_answers(line);
    lines_.clear();
    settle();
    for (const auto &device : server_.devices())
        CHECK(device->entities().empty());
}

std::string *socket_path;
fuzz::Peers *peers;

void remove_folder()
{
    rmdir(socket_path->substr(0, socket_path->rfind('/')).c_str());
}

/* Everything that an input has opened is closed: the next descriptor has the same number. */
int next_descriptor()
{
    return UniqueFd(open("/dev/null", O_RDONLY | O_CLOEXEC)).get();
}

} // namespace

extern "C" int LLVMFuzzerInitialize(int *, char ***)
{
    char folder[] = "/tmp/ptsched-fuzz.XXXXXX";
    CHECK(mkdtemp(folder));
    socket_path = new std::string(std::string(folder) + "/broker");
    atexit(remove_folder);
    peers = new fuzz::Peers(*socket_path);
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    fuzz_input input{data, data + size};
    fuzz_clock::reset();
    sigset_t signals;
    sigprocmask(SIG_BLOCK, nullptr, &signals);
    const int before = next_descriptor();
    {
        World world(*peers, *socket_path, input);
        /* The broker keeps the signals that would end this program. */
        sigprocmask(SIG_SETMASK, &signals, nullptr);
        world.run();
    }
    for (std::size_t which = 1; which < fuzz::Peers::kMost; which++)
        setpriority(PRIO_PROCESS, static_cast<id_t>(peers->pid(which)), 0);
    CHECK(next_descriptor() == before);
    return 0;
}
