// SPDX-License-Identifier: MIT
/* The C interface, on top of what tasks.hpp has without the types of functions. */
#include "libptsched/base/c_struct.hpp"
#include "libptsched/base/c_values.hpp"
#include <ptsched/tasks.h>
#include <ptsched/tasks.hpp>

#include <cstddef>
#include <cstring>

using namespace ptsched;
using tasks::Core;

static_assert(static_cast<int>(tasks::Mode::in) == PTSCHED_TASKS_IN &&
              static_cast<int>(tasks::Mode::reduction) == PTSCHED_TASKS_REDUCTION &&
              static_cast<int>(tasks::Mode::weak_inout) == PTSCHED_TASKS_WEAK_INOUT);
static_assert(static_cast<int>(device::Attach::required) == PTSCHED_TASKS_MUST_ATTACH &&
              static_cast<int>(tasks::Memory::prefetched) == PTSCHED_TASKS_PREFETCHED);

struct ptsched_tasks {
    const std::unique_ptr<Core> core;
};

namespace {

/* Sizes that structures had in the first version, by the last member that they had there. */
constexpr std::size_t first_options = offsetof(ptsched_tasks_options, graph) + sizeof(ptsched_tasks_options::graph),
                      first_access = offsetof(ptsched_tasks_access, combine) + sizeof(ptsched_tasks_access::combine),
                      first_task = offsetof(ptsched_tasks_task, device) + sizeof(ptsched_tasks_task::device),
                      first_state =
                          offsetof(ptsched_tasks_state, bytes_between) + sizeof(ptsched_tasks_state::bytes_between);

template <typename Function> int attempt(Function function)
{
    return ptsched::attempt<tasks::Failure>(std::move(function));
}

int late(bool done)
{
    return done ? 0 : fail(ETIMEDOUT, "the time is up");
}

tasks::Options options_of(const ptsched_tasks_options &given)
{
    const ptsched_tasks_options known = as_known(given, first_options, "ptsched_tasks_options");
    tasks::Options options;
    options.workers = known.workers;
    options.devices = devices_of(device::gpus(), known.devices, known.device_count, "runtime");
    set(options.streams, known.streams);
    options.attach = value_of<device::Attach>(known.attach, 3, "attach");
    options.check = known.check;
    set(options.timeline, known.timeline);
    set(options.graph, known.graph);
    return options;
}

tasks::Access access_of(const ptsched_tasks_access &known)
{
    const auto mode = value_of<tasks::Mode>(known.mode, 8, "mode");
    static_assert(sizeof(ptsched_tasks_combine) == sizeof(tasks::Combine));
    return {{static_cast<std::byte *>(known.begin), known.row_bytes, known.rows ? known.rows : 1, known.pitch},
            mode,
            reinterpret_cast<const tasks::Combine *>(known.combine)};
}

/* A function of the program's, with what it is called with. */
struct Closure {
    ptsched_tasks_function on_host, on_gpu;
    void *context;
    std::unique_ptr<std::byte[]> copy; /* of what @context was; null: it is the program's own */

    static void move(void *to, void *from) { new (to) Closure(std::move(*static_cast<Closure *>(from))); }
    static void destroy(void *closure) noexcept { static_cast<Closure *>(closure)->~Closure(); }
    static void call_host(void *closure, const tasks::Call &call) { run(closure, &Closure::on_host, call); }
    static void call_gpu(void *closure, const tasks::Call &call) { run(closure, &Closure::on_gpu, call); }
    static void run(void *closure, ptsched_tasks_function Closure::*function, const tasks::Call &call)
    {
        auto &self = *static_cast<Closure *>(closure);
        std::vector<void *> addresses;
        std::vector<std::size_t> pitches;
        for (std::size_t i = 0; i < call.accesses.size(); i++) {
            addresses.push_back(call.places[i].address);
            pitches.push_back(call.places[i].pitch ? call.places[i].pitch : call.accesses[i].range.pitch);
        }
        const ptsched_tasks_call given{addresses.data(), pitches.data(), call.stream, call.device};
        throw_if_refused((self.*function)(self.context, &given));
    }
    /* By which of the two there are. */
    template <bool host, bool gpu>
    static constexpr tasks::Function function{sizeof(ptsched_tasks_function) * 2 + sizeof(void *) * 2,
                                              alignof(void *),
                                              move,
                                              destroy,
                                              host ? call_host : nullptr,
                                              gpu ? call_gpu : nullptr};
};
static_assert(Closure::function<true, true>.bytes == sizeof(Closure));

Closure closure_of(const ptsched_tasks_task &task)
{
    if (!task.on_host && !task.on_gpu)
        throw Error("a task has no function: one of on_host and on_gpu must not be NULL");
    Closure closure{task.on_host, task.on_gpu, task.context, nullptr};
    if (task.context_bytes) {
        closure.copy = std::make_unique<std::byte[]>(task.context_bytes);
        std::memcpy(closure.copy.get(), &needed(static_cast<std::byte *>(task.context), "context"), task.context_bytes);
        closure.context = closure.copy.get();
    }
    return closure;
}

const tasks::Function &function_of(const ptsched_tasks_task &task)
{
    if (!task.on_gpu)
        return Closure::function<true, false>;
    return task.on_host ? Closure::function<true, true> : Closure::function<false, true>;
}

} // namespace

const char *ptsched_tasks_error_text(void)
{
    return error_text();
}

int ptsched_tasks_create(const ptsched_tasks_options *options, ptsched_tasks **made)
{
    return attempt([&] {
        ptsched_tasks *&to = needed(made, "tasks");
        to = new ptsched_tasks{Core::make(options_of(needed(options, "options")))};
        return 0;
    });
}

void ptsched_tasks_destroy(ptsched_tasks *of)
{
    delete of;
}

int ptsched_tasks_add(ptsched_tasks *to, const ptsched_tasks_task *given)
{
    return attempt([&] {
        const ptsched_tasks_task task = as_known(needed(given, "task"), first_task, "ptsched_tasks_task");
        std::vector<tasks::Access> accesses;
        for_each_known(task.accesses, task.access_count, first_access, "ptsched_tasks_access", "accesses",
                       [&](const ptsched_tasks_access &access) { accesses.push_back(access_of(access)); });
        tasks::Attributes attributes;
        if (task.name)
            attributes.name = task.name;
        attributes.priority = task.priority;
        attributes.device = static_cast<int>(task.device) - 1;
        Closure closure = closure_of(task);
        needed(to, "tasks").core->add(attributes, function_of(task), &closure, accesses);
        return 0;
    });
}

int ptsched_tasks_wait(ptsched_tasks *of, std::int64_t timeout_ns)
{
    return attempt([&] { return late(needed(of, "tasks").core->wait(duration_of(timeout_ns))); });
}

int ptsched_tasks_wait_for(ptsched_tasks *of, const ptsched_tasks_access *access, std::int64_t timeout_ns)
{
    return attempt([&] {
        const auto known = as_known(needed(access, "access"), first_access, "ptsched_tasks_access");
        return late(needed(of, "tasks").core->wait(access_of(known).range, duration_of(timeout_ns)));
    });
}

int ptsched_tasks_hold(void **hold)
{
    return attempt([&] {
        needed(hold, "hold") = Core::take_hold();
        return 0;
    });
}

void ptsched_tasks_drop(void *hold)
{
    if (hold)
        Core::drop_hold(hold);
}

int ptsched_tasks_allocate(ptsched_tasks *of, std::size_t bytes, unsigned memory, void **array)
{
    return attempt([&] {
        needed(array, "array") =
            needed(of, "tasks").core->allocate(bytes, value_of<tasks::Memory>(memory, 3, "memory"));
        return 0;
    });
}

int ptsched_tasks_keep_on_gpus(ptsched_tasks *of, void *array)
{
    return attempt([&] {
        needed(of, "tasks").core->keep_on_devices(&needed(static_cast<char *>(array), "array"));
        return 0;
    });
}

void ptsched_tasks_free(ptsched_tasks *of, void *array)
{
    if (of && array)
        of->core->release(array);
}

int ptsched_tasks_get_state(const ptsched_tasks *of, ptsched_tasks_state *state)
{
    return attempt([&] {
        const tasks::State now = needed(of, "tasks").core->state();
        ptsched_tasks_state known{};
        known.made = now.made;
        known.on_host = now.on_host;
        known.on_devices = now.on_devices;
        known.live = now.live;
        known.edges = now.edges;
        known.bytes_to_devices = now.bytes_to_devices;
        known.bytes_to_host = now.bytes_to_host;
        known.bytes_between = now.bytes_between;
        give_known(needed(state, "state"), known, first_state, "ptsched_tasks_state");
        return 0;
    });
}
