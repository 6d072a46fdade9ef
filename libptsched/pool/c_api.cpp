// SPDX-License-Identifier: MIT
/* The C interface, on top of what pool.hpp has without the types of tasks. */
#include "libptsched/base/c_struct.hpp"
#include "libptsched/base/c_values.hpp"
#include "libptsched/pool/c_kernel.hpp"
#include <ptsched/pool.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstring>

using namespace ptsched;
using pool::Core;

static_assert(static_cast<int>(pool::Where::device) == PTSCHED_POOL_ON_DEVICE &&
              static_cast<int>(pool::Where::host) == PTSCHED_POOL_ON_HOST &&
              static_cast<int>(pool::Where::either) == PTSCHED_POOL_ON_EITHER);
static_assert(static_cast<int>(device::Attach::no) == PTSCHED_POOL_ALONE &&
              static_cast<int>(device::Attach::if_possible) == PTSCHED_POOL_ATTACH &&
              static_cast<int>(device::Attach::required) == PTSCHED_POOL_MUST_ATTACH);

struct ptsched_pool {
    ptsched_pool(pool::Options options, std::vector<Core::Kind> all)
        : kinds(std::move(all)), core(Core::make(std::move(options), kinds))
    {
        for (const Core::Kind &kind : kinds)
            largest = std::max(largest, kind.bytes);
    }

    const std::vector<Core::Kind> kinds;
    std::size_t largest = 0; /* task, in bytes */
    std::atomic<bool> is_closed{false}, is_stopped{false};
    const std::unique_ptr<Core> core;
};

namespace {

/* Sizes that structures had in the first version, by the last member that they had there. */
constexpr std::size_t first_options =
                          offsetof(ptsched_pool_options, patience_ns) + sizeof(ptsched_pool_options::patience_ns),
                      first_how = offsetof(ptsched_pool_how, priority) + sizeof(ptsched_pool_how::priority),
                      first_state =
                          offsetof(ptsched_pool_state, last_park_ns) + sizeof(ptsched_pool_state::last_park_ns);

template <typename Function> int attempt(Function function)
{
    return ptsched::attempt<pool::Failure>([&] {
        try {
            return function();
        } catch (const pool::Closed &closed) {
            return fail(EPIPE, closed.what());
        }
    });
}

int late()
{
    return fail(ETIMEDOUT, "the time is up");
}

int stopped()
{
    return fail(EPIPE, "the pool was stopped");
}

std::chrono::nanoseconds time_of(std::uint64_t nanoseconds)
{
    return std::chrono::nanoseconds(std::min<std::uint64_t>(nanoseconds, INT64_MAX));
}

pool::Options options_of(const ptsched_pool_options &given)
{
    const ptsched_pool_options known = as_known(given, first_options, "ptsched_pool_options");
    pool::Options options;
    options.attach = value_of<device::Attach>(known.attach, 3, "attach");
    options.devices = devices_of(device::gpus(), known.devices, known.device_count, "pool");
    if (known.kernel)
        options.kernel = [make = pool::kernel_of(*known.kernel), name = std::string(known.kernel->name)](auto &gpu) {
            return make(gpu, name);
        };
    options.shared_bytes = known.shared_bytes;
    options.blocks = known.blocks;
    options.host_threads = known.host_threads;
    set(options.threads, known.threads);
    set(options.depth, known.depth);
    set(options.outputs, known.outputs);
    set(options.priorities, known.priorities);
    set(options.capacity, known.capacity);
    if (known.idle_ns)
        options.idle = time_of(known.idle_ns);
    if (known.patience_ns)
        options.patience = time_of(known.patience_ns);
    return options;
}

std::vector<Core::Kind> kinds_of(const std::size_t *task_bytes, std::size_t count)
{
    std::vector<Core::Kind> kinds;
    needed(task_bytes, "task_bytes");
    /* Core says what is wrong with more. */
    for (std::size_t i = 0; i < std::min<std::size_t>(count, pool::most_kinds + 1); i++)
        kinds.push_back({"kind " + std::to_string(i), task_bytes[i]});
    return kinds;
}

void check_kind(const ptsched_pool &pool, unsigned kind)
{
    if (kind >= pool.kinds.size())
        throw Error("kind is " + std::to_string(kind) + ", and the pool has " + std::to_string(pool.kinds.size()));
}

void check_room(const ptsched_pool &pool, std::size_t bytes)
{
    if (bytes < pool.largest)
        throw Error("bytes is " + std::to_string(bytes) + ", and a task of this pool may have " +
                    std::to_string(pool.largest));
}

pool::Push push_of(const ptsched_pool_how *given)
{
    if (!given)
        return {};
    const ptsched_pool_how how = as_known(*given, first_how, "ptsched_pool_how");
    if (how.device > INT32_MAX)
        throw Error("device is " + std::to_string(how.device) + ", and no pool has so many");
    return {how.output, value_of<pool::Where>(how.where, 3, "where"), static_cast<int>(how.device) - 1, how.priority};
}

/* Nothing came; to who waits without a limit, since nothing will. */
int over_or_late(const ptsched_pool &pool, unsigned output, std::int64_t timeout_ns)
{
    if (pool.is_stopped)
        return stopped();
    if (timeout_ns < 0 || (pool.is_closed && !pool.core->unfinished(output)))
        return fail(ENODATA, "the pool is closed, and all tasks of the output have been popped");
    return late();
}

} // namespace

const char *ptsched_pool_error_text(void)
{
    return error_text();
}

int ptsched_pool_create(const struct ptsched_pool_options *options, const std::size_t *task_bytes, std::size_t kinds,
                        struct ptsched_pool **pool)
{
    return attempt([&] {
        auto &handle = needed(pool, "pool");
        handle = new ptsched_pool(options_of(needed(options, "options")), kinds_of(task_bytes, kinds));
        return 0;
    });
}

void ptsched_pool_destroy(struct ptsched_pool *pool)
{
    delete pool;
}

int ptsched_pool_on_host(struct ptsched_pool *pool, unsigned kind, ptsched_pool_function function, void *context)
{
    return attempt([&] {
        check_kind(needed(pool, "pool"), kind);
        if (!function)
            throw Error("function is NULL");
        pool->core->on_host(kind, [=](void *task) { throw_if_refused(function(context, task)); });
        return 0;
    });
}

int ptsched_pool_push(struct ptsched_pool *pool, unsigned kind, const void *task, const struct ptsched_pool_how *how,
                      std::int64_t timeout_ns)
{
    return ptsched_pool_push_many(pool, kind, task, 1, how, timeout_ns, nullptr);
}

int ptsched_pool_push_many(struct ptsched_pool *pool, unsigned kind, const void *tasks, std::size_t count,
                           const struct ptsched_pool_how *how, std::int64_t timeout_ns, std::size_t *pushed)
{
    std::size_t done = 0;
    const int error = attempt([&] {
        check_kind(needed(pool, "pool"), kind);
        const pool::Push push = push_of(how);
        if (count)
            needed(static_cast<const char *>(tasks), "tasks");
        done = pool->core->push(kind, tasks, count, push, duration_of(timeout_ns));
        return done == count ? 0 : late();
    });
    if (pushed)
        *pushed = done;
    return error;
}

int ptsched_pool_pop(struct ptsched_pool *pool, unsigned output, void *task, std::size_t bytes, unsigned *kind,
                     std::int64_t timeout_ns)
{
    std::size_t popped;
    return ptsched_pool_pop_many(pool, output, task, bytes, kind, 1, timeout_ns, &popped);
}

int ptsched_pool_pop_many(struct ptsched_pool *pool, unsigned output, void *tasks, std::size_t bytes, unsigned *kinds,
                          std::size_t count, std::int64_t timeout_ns, std::size_t *popped)
{
    return attempt([&] {
        std::size_t &done = needed(popped, "popped") = 0;
        check_room(needed(pool, "pool"), bytes);
        auto *to = &needed(static_cast<std::byte *>(tasks), "tasks");
        if (!count)
            throw Error("count is 0: there is no room for a task");
        pool->core->pop(
            output, count,
            [&](unsigned kind, const std::byte *task, std::uint64_t) {
                std::memcpy(to + done * bytes, task, pool->kinds[kind].bytes);
                if (kinds)
                    kinds[done] = kind;
                done++;
            },
            duration_of(timeout_ns));
        return done ? 0 : over_or_late(*pool, output, timeout_ns);
    });
}

int ptsched_pool_unfinished(const struct ptsched_pool *pool, unsigned output, std::size_t *count)
{
    return attempt([&] {
        auto &result = needed(count, "count");
        result = needed(pool, "pool").core->unfinished(output);
        return 0;
    });
}

int ptsched_pool_close(struct ptsched_pool *pool)
{
    return attempt([&] {
        needed(pool, "pool").core->close();
        pool->is_closed = true;
        return 0;
    });
}

int ptsched_pool_stop(struct ptsched_pool *pool)
{
    return attempt([&] {
        needed(pool, "pool").is_stopped = true;
        pool->core->stop();
        return 0;
    });
}

int ptsched_pool_wait(struct ptsched_pool *pool, std::int64_t timeout_ns)
{
    return attempt([&] {
        const bool all = needed(pool, "pool").core->wait(duration_of(timeout_ns));
        return pool->is_stopped ? stopped() : all ? 0 : late();
    });
}

int ptsched_pool_get_state(const struct ptsched_pool *pool, struct ptsched_pool_state *state)
{
    return attempt([&] {
        auto &given = needed(state, "state");
        const pool::State now = needed(pool, "pool").core->state();
        const ptsched_pool_state known{
            sizeof(known), now.on_devices, now.on_host,  now.launches,
            now.parks,     now.in_slots,   now.resident, static_cast<std::uint64_t>(now.last_park.count())};
        give_known(given, known, first_state, "ptsched_pool_state");
        return 0;
    });
}
