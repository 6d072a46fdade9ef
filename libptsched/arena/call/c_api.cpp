// SPDX-License-Identifier: MIT
/* The C interface, on top of what call.hpp has without types. */
#include "libptsched/arena/call/signature_text.hpp"
#include "libptsched/base/c_values.hpp"
#include "libptsched/pool/c_kernel.hpp"
#include <ptsched/arena/call.h>

#include <algorithm>
#include <list>
#include <mutex>

using namespace ptsched;
using arena::detail::CallCore;
using arena::detail::ParsedSignature;

/* With what C needs of its signature. */
struct ptsched_arena_function {
    CallCore &core;
    const ParsedSignature signature;
    const arena::detail::Target &target;
};

struct ptsched_arena_call {
    const ptsched_arena_function &function;
    arena::detail::Record *record;
};

struct ptsched_arena_calls {
    explicit ptsched_arena_calls(arena::CallOptions options) : core(CallCore::make(std::move(options))) {}

    const std::unique_ptr<CallCore> core;
    std::mutex mutex;
    std::list<ptsched_arena_function> functions; /* that were found */
};

namespace {

constexpr std::size_t first_options = offsetof(ptsched_arena_call_options, patience_ns) +
                                      sizeof(ptsched_arena_call_options::patience_ns),
                      first_how =
                          offsetof(ptsched_arena_call_how, cooperative) + sizeof(ptsched_arena_call_how::cooperative);

template <typename Function> int attempt(Function function)
{
    return ptsched::attempt<arena::CallFailure>([&] {
        function();
        return 0;
    });
}

std::chrono::nanoseconds time_of(std::uint64_t nanoseconds)
{
    return std::chrono::nanoseconds(std::min<std::uint64_t>(nanoseconds, INT64_MAX));
}

arena::CallOptions options_of(const ptsched_arena_call_options &given)
{
    const ptsched_arena_call_options known = as_known(given, first_options, "ptsched_arena_call_options");
    arena::CallOptions options;
    const auto &kernel = needed(known.kernel, "kernel");
    options.kernel = pool::kernel_of(kernel);
    options.table = kernel.name;
    options.devices = devices_of(device::gpus(), known.devices, known.device_count, "first GPU");
    set(options.threads, known.threads);
    options.blocks = known.blocks;
    set(options.slot_bytes, known.slot_bytes);
    set(options.line_slots, known.line_slots);
    set(options.host_threads, known.host_threads);
    options.attach = value_of<device::Attach>(known.attach, 3, "attach");
    if (known.idle_ns)
        options.idle = time_of(known.idle_ns);
    if (known.patience_ns)
        options.patience = time_of(known.patience_ns);
    return options;
}

arena::Run run_of(const ptsched_arena_call_how *given)
{
    arena::Run run;
    if (!given)
        return run;
    const ptsched_arena_call_how how = as_known(*given, first_how, "ptsched_arena_call_how");
    run.gpu = how.gpu;
    run.blocks = how.blocks;
    set(run.threads, how.threads);
    run.shared_bytes = how.shared_bytes;
    run.cooperative = how.cooperative;
    return run;
}

struct alignas(arena::detail::most_alignment) Packed {
    std::byte bytes[arena::detail::most_argument_bytes];
};

void pack(const ptsched_arena_function &function, const void *const *arguments, Packed &packed)
{
    std::size_t i = 0;
    for (const auto &[offset, bytes] : function.signature.arguments()) {
        const void *argument = (&needed(arguments, "arguments"))[i++];
        std::memcpy(packed.bytes + offset, &needed(static_cast<const char *>(argument), "an argument's address"),
                    bytes);
    }
}

std::byte *place_of(const ptsched_arena_function &function, void *result)
{
    return function.signature.result_bytes() ? &needed(static_cast<std::byte *>(result), "result") : nullptr;
}

} // namespace

const char *ptsched_arena_call_error_text(void)
{
    return error_text();
}

int ptsched_arena_call_create(const struct ptsched_arena_call_options *options, struct ptsched_arena_calls **calls)
{
    return attempt([&] {
        auto &handle = needed(calls, "calls");
        handle = new ptsched_arena_calls(options_of(needed(options, "options")));
    });
}

void ptsched_arena_call_destroy(struct ptsched_arena_calls *calls)
{
    delete calls;
}

int ptsched_arena_call_find(struct ptsched_arena_calls *calls, const char *name, const char *signature,
                            const struct ptsched_arena_call_how *how, struct ptsched_arena_function **function)
{
    return attempt([&] {
        auto &handle = needed(function, "function");
        const ParsedSignature parsed(&needed(signature, "signature"));
        CallCore &core = *needed(calls, "calls").core;
        const auto &target = core.find(&needed(name, "name"), parsed.get(), run_of(how));
        std::lock_guard lock(calls->mutex);
        handle = &calls->functions.emplace_back(ptsched_arena_function{core, parsed, target});
    });
}

int ptsched_arena_call_number(struct ptsched_arena_calls *calls, const char *name, const char *signature,
                              unsigned int *number)
{
    return attempt([&] {
        auto &result = needed(number, "number");
        const ParsedSignature parsed(&needed(signature, "signature"));
        result = needed(calls, "calls").core->number(&needed(name, "name"), parsed.get());
    });
}

int ptsched_arena_call_add(struct ptsched_arena_calls *calls, const char *name, const char *signature,
                           ptsched_arena_host_function function, void *context, int may_wait)
{
    return attempt([&] {
        const ParsedSignature parsed(&needed(signature, "signature"));
        if (!function)
            throw Error("function is NULL");
        const auto invoke = [function, context, places = parsed.arguments()](const std::byte *from, std::byte *result) {
            std::vector<const void *> arguments;
            for (const ParsedSignature::Argument &place : places)
                arguments.push_back(from + place.offset);
            throw_if_refused(function(context, arguments.data(), result));
        };
        needed(calls, "calls")
            .core->add(&needed(name, "name"), parsed.get(), invoke,
                       may_wait ? arena::Waits::may_wait : arena::Waits::no);
    });
}

int ptsched_arena_call_run(struct ptsched_arena_function *function, const void *const *arguments, void *result)
{
    return attempt([&] {
        std::byte *place = place_of(needed(function, "function"), result);
        Packed packed;
        pack(*function, arguments, packed);
        function->core.run(function->target, packed.bytes, place);
    });
}

int ptsched_arena_call_start(struct ptsched_arena_function *function, const void *const *arguments,
                             struct ptsched_arena_call **call)
{
    return attempt([&] {
        auto &handle = needed(call, "call");
        auto made = std::make_unique<ptsched_arena_call>(ptsched_arena_call{needed(function, "function"), nullptr});
        Packed packed;
        pack(*function, arguments, packed);
        made->record = &function->core.start(function->target, packed.bytes);
        handle = made.release();
    });
}

int ptsched_arena_call_wait(struct ptsched_arena_call *call, std::int64_t timeout_ns)
{
    bool has_ended = false;
    const int error =
        attempt([&] { has_ended = needed(call, "call").function.core.await(*call->record, duration_of(timeout_ns)); });
    return error || has_ended ? error : fail(ETIMEDOUT, "the time is up");
}

int ptsched_arena_call_get(struct ptsched_arena_call *call, void *result)
{
    return attempt([&] {
        std::byte *place = place_of(needed(call, "call").function, result);
        const std::unique_ptr<ptsched_arena_call> gone(call);
        call->function.core.finish(*call->record, place);
    });
}

void ptsched_arena_call_drop(struct ptsched_arena_call *call)
{
    if (!call)
        return;
    call->function.core.drop(*call->record);
    delete call;
}
