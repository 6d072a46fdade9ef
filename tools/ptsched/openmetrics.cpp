// SPDX-License-Identifier: MIT
#include "tools/ptsched/openmetrics.hpp"

#include "tools/ptsched/accounts.hpp"
#include "tools/ptsched/format.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace ptsched {

namespace {

/* Prometheus' own exporter of files knows these two of the types. */
enum class Type { Counter, Gauge };
/* What values are in here; times are nanoseconds, and are shown in seconds. */
enum class Quantity { Count, Time };

struct Family {
    std::string name; /* without the unit */
    Type type;
    Quantity quantity;
    const char *help;
};

using Labels = std::vector<std::pair<const char *, std::string>>;

struct Sample {
    Labels labels;
    std::int64_t value;
};

std::string escape(const std::string &text)
{
    std::string escaped;

    for (char c : text) {
        if (c == '\\' || c == '"')
            escaped += '\\';
        escaped += c == '\n' ? "\\n" : std::string(1, c);
    }
    return escaped;
}

/* Exact, which a floating point number would not be after some months. */
std::string in_seconds(std::int64_t ns)
{
    const std::uint64_t size = ns < 0 ? -static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns);
    std::string text = std::to_string(1'000'000'000 + size % 1'000'000'000);

    text = (ns < 0 ? "-" : "") + std::to_string(size / 1'000'000'000) + "." + text.substr(1);
    return text;
}

std::string line_of(const std::string &name, Quantity quantity, const Sample &sample)
{
    std::string labels;

    for (const auto &[label, value] : sample.labels)
        labels += (labels.empty() ? "" : ",") + std::string(label) + "=\"" + escape(value) + "\"";
    return name + "{" + labels + "} " +
           (quantity == Quantity::Time ? in_seconds(sample.value) : std::to_string(sample.value)) + "\n";
}

/* Adds one family of metrics, with all that there is of it. */
void emit(std::string &out, const Family &family, const std::vector<Sample> &samples)
{
    const bool is_time = family.quantity == Quantity::Time;
    const std::string name = "ptsched_" + family.name + (is_time ? "_seconds" : "");

    out += "# TYPE " + name + (family.type == Type::Counter ? " counter\n" : " gauge\n");
    if (is_time)
        out += "# UNIT " + name + " seconds\n";
    out += "# HELP " + name + " " + family.help + "\n";
    for (const Sample &sample : samples)
        out += line_of(name + (family.type == Type::Counter ? "_total" : ""), family.quantity, sample);
}

/* One family with a sample of each of @all: what @value_of says. */
template <typename Things, typename Labeller, typename Value>
void emit_each(std::string &out, const Family &family, const Things &all, const Labeller &labels_of,
               const Value &value_of)
{
    std::vector<Sample> samples;

    for (const auto &one : all)
        samples.push_back({labels_of(one), static_cast<std::int64_t>(value_of(one))});
    emit(out, family, samples);
}

struct CounterFamily {
    const char *name;
    Quantity quantity;
    std::uint64_t Counters::*member;
    const char *help;
};

constexpr CounterFamily counter_families[] = {
    {"gpu", Quantity::Time, &Counters::gpu_ns, "GPU time, as the processes' libraries measured it."},
    {"held", Quantity::Time, &Counters::held_ns, "Wall time of turns."},
    {"contended", Quantity::Time, &Counters::occupancy_ns, "Wall time of turns while others were active."},
    {"given", Quantity::Time, &Counters::given_ns, "Part of the contended time that others had left unused."},
    {"overrun", Quantity::Time, &Counters::overrun_ns,
     "Time for which turns were kept after they were shared by force."},
    {"turns", Quantity::Count, &Counters::turns, "Turns that were granted."},
    {"callbacks", Quantity::Count, &Counters::callbacks, "Turns that were called back."},
    {"preempts", Quantity::Count, &Counters::preempts, "Call-backs that became a demand to leave the device at once."},
    {"escalations", Quantity::Count, &Counters::escalations, "Of these, those for work that did not drain in time."},
    {"forced", Quantity::Count, &Counters::forced,
     "Turns that were shared because a call-back was not obeyed in time."},
};

/* What devices and processes have in common. */
template <typename Things, typename Labeller>
void emit_counters(std::string &out, const std::string &prefix, const Things &all, const Labeller &labels_of)
{
    for (const CounterFamily &family : counter_families)
        emit_each(out, {prefix + family.name, Type::Counter, family.quantity, family.help}, all, labels_of,
                  [&](const auto &one) { return one.counters.*family.member; });
}

/*
 * Users as far as processes tell of them. The scheduler adds up what processes have used that are gone: the sum of
 * those that are there would fall.
 */
std::vector<Account> users_of(const std::vector<Entity> &entities)
{
    std::map<std::pair<std::uint32_t, std::uint32_t>, Account> found;
    std::vector<Account> users;

    for (const Entity &entity : entities) {
        if (!entity.user_gpu_ns)
            continue;
        Account &user = found[{entity.device_id, entity.uid}];
        user.device_id = entity.device_id;
        user.uid = entity.uid;
        user.share = entity.share;
        user.processes++;
        user.gpu_ns = std::max(user.gpu_ns, *entity.user_gpu_ns);
    }
    for (const auto &[key, user] : found)
        users.push_back(user);
    return users;
}

class Page {
public:
    Page(const std::vector<Device> &devices, const std::vector<Entity> &entities, const std::vector<Account> &accounts,
         const CgroupPaths &paths)
        : devices_(devices), entities_(entities), accounts_(accounts), paths_(paths)
    {
        for (const Device &device : devices)
            addresses_[device.id] = device.pci;
    }

    std::string text()
    {
        add_devices();
        add_users_and_cgroups();
        add_processes();
        out_ += "# EOF\n";
        return std::move(out_);
    }

private:
    const std::vector<Device> &devices_;
    const std::vector<Entity> &entities_;
    const std::vector<Account> &accounts_;
    const CgroupPaths &paths_;
    std::map<std::uint32_t, std::string> addresses_;
    std::map<std::uint32_t, std::string> names_; /* of users, each of which is asked for once */
    std::string out_;

    Labels labels_of_device(std::uint32_t id) const
    {
        auto found = addresses_.find(id);
        return {{"device", std::to_string(id)}, {"pci", found == addresses_.end() ? "" : found->second}};
    }

    const std::string &name_of(std::uint32_t uid)
    {
        auto [found, is_new] = names_.try_emplace(uid);
        if (is_new)
            found->second = printable_utf8(user_name(uid));
        return found->second;
    }

    static Labels joined(Labels labels, Labels more)
    {
        labels.insert(labels.end(), more.begin(), more.end());
        return labels;
    }

    void add_devices()
    {
        const auto labels_of = [this](const Device &device) { return labels_of_device(device.id); };
        const auto gauge = [&](const char *name, Quantity quantity, const char *help, auto value_of) {
            emit_each(out_, {name, Type::Gauge, quantity, help}, devices_, labels_of, value_of);
        };

        emit_each(
            out_, {"device_settings", Type::Gauge, Quantity::Count, "Always 1: which device, with which settings."},
            devices_,
            [&](const Device &device) {
                return joined(labels_of(device), {{"uuid", device.uuid},
                                                  {"policy", policy_name(device.policy)},
                                                  {"grouping", grouping_name(device.grouping)},
                                                  {"idle_sharing", device.idle_sharing ? "on" : "off"},
                                                  {"many", device.many ? "on" : "off"}});
            },
            [](const Device &) { return 1; });
        gauge("device_processes", Quantity::Count, "Processes that are attached.",
              [](const Device &device) { return device.entities; });
        gauge("device_waiting_processes", Quantity::Count, "Processes that wait for the turn.",
              [](const Device &device) { return device.waiters; });
        gauge("device_slice", Quantity::Time, "The slice in force: the setting, but at least 30 hand-overs.",
              [](const Device &device) { return device.slice_effective_ns; });
        gauge("device_handover", Quantity::Time, "Time for which the device stands still when a turn passes on.",
              [](const Device &device) { return device.handover_ns; });
        emit_counters(out_, "device_", devices_, labels_of);
    }

    template <typename Labeller>
    void add_accounts(const std::string &prefix, const std::vector<Account> &all, const Labeller &labels_of)
    {
        emit_each(out_, {prefix + "processes", Type::Gauge, Quantity::Count, "Its processes that are attached."}, all,
                  labels_of, [](const Account &account) { return account.processes; });
        emit_each(
            out_,
            {prefix + "share", Type::Gauge, Quantity::Count, "What it gets against others, where time is so divided."},
            all, labels_of, [](const Account &account) { return account.share; });
        emit_each(out_,
                  {prefix + "gpu", Type::Counter, Quantity::Time,
                   "GPU time of all its processes, of those that are gone, too."},
                  all, labels_of, [](const Account &account) { return account.gpu_ns; });
    }

    void add_users_and_cgroups()
    {
        std::vector<Account> users, cgroups;

        for (const Account &account : accounts_)
            (account.uid ? users : cgroups).push_back(account);
        add_accounts("user_", users, [this](const Account &user) {
            return joined(labels_of_device(user.device_id),
                          {{"uid", std::to_string(*user.uid)}, {"user", name_of(*user.uid)}});
        });
        /* What is not UTF-8 in two names may look the same. */
        add_accounts("cgroup_", cgroups, [this](const Account &account) {
            return joined(labels_of_device(account.device_id),
                          {{"id", std::to_string(account.cgroup)},
                           {"cgroup", printable_utf8(cgroup_name(account.cgroup, paths_))}});
        });
    }

    void add_processes()
    {
        const auto labels_of = [this](const Entity &entity) {
            return joined(labels_of_device(entity.device_id), {{"pid", std::to_string(entity.pid)},
                                                               {"comm", printable_utf8(entity.comm)},
                                                               {"uid", std::to_string(entity.uid)},
                                                               {"user", name_of(entity.uid)}});
        };

        emit_counters(out_, "process_", entities_, labels_of);
        emit_each(out_, {"process_wait", Type::Counter, Quantity::Time, "Time spent waiting for the turn."}, entities_,
                  labels_of, [](const Entity &entity) { return entity.wait_ns; });
        emit_each(out_, {"process_submissions", Type::Counter, Quantity::Count, "Calls that gave the device work."},
                  entities_, labels_of, [](const Entity &entity) { return entity.submissions; });
        emit_each(out_, {"process_budget", Type::Gauge, Quantity::Time, "What it may still use; negative: used up."},
                  entities_, labels_of, [](const Entity &entity) { return entity.budget_ns; });
        emit_each(out_, {"process_weight", Type::Gauge, Quantity::Count, "Its weight, from nice or as it was set."},
                  entities_, labels_of, [](const Entity &entity) { return entity.weight; });
    }
};

} // namespace

std::string openmetrics(const std::vector<Device> &devices, const std::vector<Entity> &entities,
                        const std::optional<std::vector<Account>> &accounts, const CgroupPaths &paths)
{
    return Page(devices, entities, accounts ? *accounts : users_of(entities), paths).text();
}

} // namespace ptsched
