/* SPDX-License-Identifier: MIT */
/*
 * The scheduler under test, reached past the library: its settings and statistics,
 * and its calls with arguments that the library would not pass.
 */
#ifndef PTSCHED_TEST_SCHEDULER_HPP
#define PTSCHED_TEST_SCHEDULER_HPP

#include "libptsched/base/time_calls.hpp"
#include "libptsched/client/broker_protocol.h"
#include <ptsched/base/fd.hpp>
#include <ptsched/ptsched.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <sys/types.h>
#include <vector>

namespace genl {
class Channel;
}

namespace scheduler {

constexpr uid_t kNobody = 65534;
constexpr char kDevice[] = "ffff:01:00.0";
constexpr char kUuid[] = "GPU-00000000-0000-0000-0000-000000000001";
constexpr char kOtherDevice[] = "ffff:02:00.0";
constexpr std::uint64_t kMillisecond = 1000000;

ptsched_backend backend();

/* The module that is loaded, or a broker started from @program; for the whole run. */
void use_module();
void start_broker(const std::string &program);
void stop_broker();
pid_t broker_pid();
std::string socket_path();
/* build/tests/NAME -> build/bin/ptschedd */
std::string default_broker();

/* --- generic netlink, or the broker's equivalent --- */

/* Numbers by attribute; strings are left out. */
using Attributes = std::map<int, std::int64_t>;

struct Reply {
    int error = 0;     /* negative errno */
    int attribute = 0; /* that is at fault */
    std::vector<Attributes> messages;
};

/* Values of attributes of requests, in the size that the uapi header says. */
Reply request(int cmd, const Attributes &attributes);

/* Settings of all devices, checked. */
void set(const Attributes &attributes);
/* Long slices and times, so that nothing happens that a test does not ask for. */
void reset_settings();

std::optional<Attributes> entity(pid_t pid, const char *device = kDevice);
/* A user's or a cgroup's, by the attribute that tells which. */
std::optional<Attributes> account(int attribute, std::int64_t value);
Attributes device();
void wait_for_state(pid_t pid, int state);
void wait_until_gone(pid_t pid);
/* The thread sleeps in a call, as far as the kernel can tell. */
void wait_until_asleep(pid_t tid);
/* Nobody owes anything from an earlier test. */
void wait_for_budget(pid_t pid);

/* Sees what @uid may see, who opened its channel; root uses it. */
class Viewer {
public:
    explicit Viewer(uid_t uid);
    ~Viewer();
    /* As whose numbers they are told. */
    std::set<pid_t> processes();

private:
    std::unique_ptr<genl::Channel> channel_;
};

class Events {
public:
    explicit Events(uid_t uid = 0);
    Attributes next();

private:
    ptsched::UniqueFd fd_;
};

/* --- calls --- */

class RawClient {
public:
    RawClient();
    /* The structure and its size as given; the reply overwrites it. */
    int call(std::uint32_t cmd, void *argument, std::uint32_t length, int fd = -1);
    template <typename Argument> int call(std::uint32_t cmd, Argument &argument)
    {
        return call(cmd, &argument, sizeof(argument));
    }
    int attach(const char *device, std::uint32_t mechanism = PTSCHED_MECHANISM_GATE);
    int fd() const { return fd_.get(); }

private:
    ptsched::UniqueFd fd_;
    std::uint64_t id_ = 0;
};

/* Again and again until it holds; a test that never gets there is stopped by who runs it. */
template <typename Condition> void wait_until(Condition condition);
void pause_briefly();

template <typename Condition> void wait_until(Condition condition)
{
    while (!condition())
        pause_briefly();
}

} // namespace scheduler

#endif
