/* SPDX-License-Identifier: MIT */
/*
 * What the tool knows of a scheduler: the messages of the generic netlink family
 * in uapi/linux/ptsched.h, to the module over netlink, to the broker over its
 * Unix socket.
 */
#ifndef PTSCHED_TOOL_SCHEDULER_HPP
#define PTSCHED_TOOL_SCHEDULER_HPP

#include "libptsched/client/broker_socket.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <linux/ptsched.h>
#include <memory>
#include <netlink/msg.h>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace ptsched {

/* Something that ends the command; the text is for the person who gave it. */
class Error : public std::runtime_error {
public:
    explicit Error(const std::string &text, int status = 1) : std::runtime_error(text), status_(status) {}
    int status() const { return status_; }

private:
    int status_;
};

/* What a scheduler has refused, with the error's number. */
class Refused : public Error {
public:
    Refused(const std::string &text, int error) : Error(text), error_(error) {}
    int error() const { return error_; }

private:
    int error_;
};

/* A scheduler that is there and does not serve; what could be done about it. */
class Unresponsive : public Error {
public:
    Unresponsive(const std::string &text, std::string advice) : Error(text), advice_(std::move(advice)) {}
    const std::string &advice() const { return advice_; }

private:
    std::string advice_;
};

/* Counters that devices and entities have in common. */
struct Counters {
    std::uint64_t turns = 0;
    std::uint64_t callbacks = 0;
    std::uint64_t preempts = 0;
    std::uint64_t escalations = 0;
    std::uint64_t forced = 0;
    std::uint64_t overrun_ns = 0;
    std::uint64_t occupancy_ns = 0;
    std::uint64_t held_ns = 0;
    std::uint64_t gpu_ns = 0;
    std::uint64_t given_ns = 0;
};

struct Device {
    std::uint32_t id = 0;
    std::string pci;
    std::string uuid; /* empty: not known */
    std::uint32_t policy = 0;
    std::uint32_t grouping = 0;
    bool idle_sharing = false;
    bool many = false;
    std::uint64_t slice_ns = 0;
    std::uint64_t grace_ns = 0;
    std::uint64_t drain_ns = 0;
    std::uint64_t inflight_ns = 0;
    std::uint32_t alpha = 0; /* thousandths */
    std::uint64_t node = 0;  /* PTSCHED_NODE(), 0: none */
    std::uint64_t slice_effective_ns = 0;
    std::uint64_t handover_ns = 0;
    std::uint32_t entities = 0;
    std::uint32_t waiters = 0;
    Counters counters;
};

struct Entity {
    std::uint32_t device_id = 0;
    std::uint32_t pid = 0;
    std::uint32_t uid = 0;
    std::string comm;
    std::int32_t nice = 0;
    std::uint32_t weight = 0;
    bool weight_set = false;
    std::uint32_t state = 0;
    bool active = false;
    std::int64_t budget_ns = 0;
    std::uint64_t wait_ns = 0;
    std::uint64_t submissions = 0;
    std::uint32_t clients = 0;
    std::uint32_t mechanism = 0;
    std::uint32_t share = 0;                  /* of its user */
    std::string group;                        /* empty: none */
    std::optional<std::uint64_t> user_gpu_ns; /* none: not to be seen, or not known to the scheduler */
    std::optional<std::uint64_t> cgroup;      /* none: not known to the scheduler */
    Counters counters;
};

/* What a user, or a cgroup, has and is to have on a device. */
struct Account {
    std::uint32_t device_id = 0;
    std::optional<std::uint32_t> uid; /* none: it is a cgroup's */
    std::uint64_t cgroup = 0;
    std::optional<std::uint64_t> parent; /* of a cgroup; none: the root */
    std::uint32_t share = PTSCHED_SHARE_DEFAULT;
    std::uint32_t processes = 0;
    std::uint64_t gpu_ns = 0;
};

struct Event {
    std::uint32_t event = 0;
    std::uint64_t time_ns = 0;
    std::uint32_t device_id = 0;
    /* Not with PTSCHED_EVENT_SETTINGS, nor with PTSCHED_EVENT_LOST, which has nothing but itself. */
    std::optional<std::uint32_t> pid;
    std::string comm;
    std::int64_t budget_ns = 0;
    std::uint64_t turn = 0;
};

/* A change of one setting: an attribute marked S and its value. */
struct Setting {
    int attribute;
    std::uint64_t value;
};

/* Which scheduler the user asked for. */
struct Choice {
    bool module = false; /* only the module */
    std::string broker;  /* only the broker at this socket; empty: not asked for */
};

class Scheduler {
public:
    virtual ~Scheduler() = default;

    /* "module" or "broker", and where it was reached. */
    virtual std::string kind() const = 0;
    virtual std::string path() const = 0;
    virtual ptsched_query query() = 0;

    std::vector<Device> devices();
    /* Of all devices, or of one. */
    std::vector<Entity> entities(std::optional<std::uint32_t> device_id = std::nullopt);
    /* None: a scheduler that does not know the command. */
    std::optional<std::vector<Account>> accounts(std::optional<std::uint32_t> device_id = std::nullopt);
    void set_device(std::optional<std::uint32_t> device_id, const std::vector<Setting> &settings);
    /* Weight 0: from nice again. */
    void set_entity(std::uint32_t pid, std::uint32_t weight, std::optional<std::uint32_t> device_id);
    void set_user(std::uint32_t uid, std::uint32_t share, std::optional<std::uint32_t> device_id);
    /* @directory is an open descriptor of it. */
    void set_cgroup(int directory, std::uint32_t share, std::optional<std::uint32_t> device_id);

    /* From the return on, events are collected; the descriptor polls readable. */
    virtual int subscribe() = 0;
    /* What has come since, without waiting. PTSCHED_EVENT_LOST stands where others are missing. */
    virtual std::vector<Event> read_events() = 0;

protected:
    /* A message: genlmsghdr, then attributes. */
    using Visitor = std::function<void(const void *message, std::size_t length)>;

    virtual void dump(nl_msg *request, const Visitor &visit) = 0;
    /* @passed is a descriptor that the request names; -1: none. */
    virtual void change(nl_msg *request, int passed) = 0;

private:
    void set(std::uint8_t command, std::optional<std::uint32_t> device_id, const std::vector<Setting> &settings,
             int passed = -1);
};

/* How long a scheduler may take to answer a request. */
inline constexpr std::chrono::seconds answer_timeout = kBrokerPatience;

std::unique_ptr<Scheduler> open_module();
/* Throws Unresponsive, now or later, where a broker is there and does not answer. */
std::unique_ptr<Scheduler> open_broker(const std::string &socket);
/* As asked for, else the module, else the broker. Throws if there is none. */
std::unique_ptr<Scheduler> open_scheduler(const Choice &choice);

/* $PTSCHED_DEVICE_NODE and $PTSCHED_SOCKET, or the places where they are by default. */
std::string device_node();
std::string broker_socket();

/* The device with this number, PCI address or UUID. Throws if there is none. */
const Device &find_device(const std::vector<Device> &devices, const std::string &name);

/* attributes.cpp: what messages carry */
std::unique_ptr<nl_msg, void (*)(nl_msg *)> new_message(std::uint8_t command);
Event parse_event(const void *message, std::size_t length);
/* The command line's word for the attribute of a setting; empty: not a setting. */
std::string setting_name(std::uint32_t attribute);
/* Throws the refusal of a request, in words; @text and @attribute where the scheduler gave them. */
[[noreturn]] void throw_refusal(int error, const std::string &text, std::uint32_t attribute);

} // namespace ptsched

#endif /* PTSCHED_TOOL_SCHEDULER_HPP */
