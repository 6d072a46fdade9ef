// SPDX-License-Identifier: MIT
/* Calls of the host by kernels. */
#include "libptsched/arena/call/aside.hpp"
#include "libptsched/base/nested.hpp"

namespace ptsched::arena::detail {

/* So many calls of one GPU before the next is looked at. */
constexpr unsigned at_once = 64;
/* So many looks with calls before other things are looked at. */
constexpr unsigned looks_between = 64;

bool CallsImpl::look(Server &server)
{
    bool busy = false;
    for (const auto &gpu : gpus_) {
        for (unsigned i = 0; i < at_once && serve_next(server, *gpu); i++) {
            busy = true;
            if (!server.is_looking())
                return true;
        }
    }
    if (busy && looks_++ % looks_between)
        return true;
    for (const auto &gpu : gpus_)
        busy |= look_after_spread(*gpu);
    return look_after_dropped() || busy;
}

bool CallsImpl::serve_next(Server &server, Gpu &gpu)
{
    unsigned ticket;
    Request request;
    if (!gpu.line.find(ticket, request))
        return false;
    if (request.record != no_record)
        records_.at(request.record).passes_gpu();
    if (request.number == complaint)
        return hear_complaint(gpu, ticket, request);
    const HostFunction *function =
        request.number ? host_functions_.by_number(request.number & ~host_bit) : host_functions_.by_key(request.key);
    if (!function || (request.number && hash(function->signature.c_str()) != request.key))
        return refuse_unknown(gpu, ticket, request, function);
    alignas(most_alignment) std::byte arguments[most_request_bytes];
    if (!gpu.line.read(arguments, function->argument_bytes))
        return false;
    gpu.line.advance();
    if (function->waits == Waits::may_wait)
        server.hand_over();
    serve(gpu, ticket, request, *function, arguments);
    return true;
}

void CallsImpl::serve(Gpu &gpu, unsigned ticket, const Request &request, const HostFunction &function,
                      const std::byte *arguments)
{
    const Serving here{*this, request.record, function};
    const Serving *before = std::exchange(serving, &here);
    Status status = Status::done;
    std::byte result[most_answer_bytes];
    try {
        std::vector<const void *> pointers;
        collect_pointers(function.pointers, arguments, function.name, pointers);
        if (options_.hooks.before_call)
            options_.hooks.before_call(Side::host(), pointers);
        function.invoke(arguments, result);
        if (options_.hooks.after_call)
            options_.hooks.after_call(Side::host(), pointers);
        if (function.returns_pointer) {
            const void *pointer;
            std::memcpy(&pointer, result, sizeof(pointer));
            check_pointer(pointer, "what '" + function.name + "' returns");
        }
    } catch (...) {
        status = Status::failed;
        fail(request.record, nested<CallFailure>("calls: the host's function '" + function.name + "', which " +
                                                     caller(request.record) + " has called, has failed",
                                                 std::current_exception()));
    }
    serving = before;
    answer(gpu, ticket, request, status, result, function.result_bytes);
}

void CallsImpl::answer(Gpu &gpu, unsigned ticket, const Request &request, Status status, const std::byte *result,
                       unsigned bytes)
{
    if (request.record != no_record)
        records_.at(request.record).passes_gpu();
    gpu.line.answer(ticket, status, result, bytes);
}

/* Of the GPU's functions. */
std::string CallsImpl::caller(unsigned record) const
{
    return record == no_record ? "a kernel of the program's" : "'" + records_.at(record).target->name + "'";
}

void CallsImpl::fail(unsigned index, std::exception_ptr failure)
{
    constexpr std::size_t most_kept = 1000;
    Guard lock(failures_mutex_);
    if (index == no_record) {
        if (failures_.size() < most_kept)
            failures_.push_back(std::move(failure));
        return;
    }
    Record &record = records_.at(index);
    if (record.has_failed.load(std::memory_order_relaxed))
        return;
    record.failure = std::move(failure);
    record.has_failed.store(true, std::memory_order_release);
}

/* Of a name, the kernel says the text next: the host has its hash. */
bool CallsImpl::refuse_unknown(Gpu &gpu, unsigned ticket, const Request &request, const HostFunction *function)
{
    gpu.line.advance();
    if (request.number) {
        const std::string what = caller(request.record) + " calls a function of the host by a pointer whose ";
        const std::string why =
            function ? "signature is another one: it leads to " + describe(function->name, function->signature)
                     : "number is " + std::to_string(request.number & ~host_bit) +
                           ", and there is none: Calls::pointer() makes pointers";
        fail(request.record, std::make_exception_ptr(CallFailure("calls: " + what + why)));
    }
    answer(gpu, ticket, request, function ? Status::wrong_signature : Status::no_such_function, nullptr, 0);
    return true;
}

bool CallsImpl::hear_complaint(Gpu &gpu, unsigned ticket, const Request &request)
{
    Complaint about;
    if (!gpu.line.read(reinterpret_cast<std::byte *>(&about), sizeof(about)))
        return false;
    gpu.line.advance();
    about.name[sizeof(about.name) - 1] = about.signature[sizeof(about.signature) - 1] = 0;
    const HostFunction *function = host_functions_.by_number(host_functions_.number(about.name));
    const std::string why = function ? "and the host has " + describe(function->name, function->signature)
                                     : "which is no function of the host, which has " + host_functions_.list() +
                                           ": PTSCHED_ARENA_HOST_FUNCTION and Calls::add() add one";
    fail(request.record, std::make_exception_ptr(CallFailure("calls: " + caller(request.record) + " calls " +
                                                             describe(about.name, about.signature) + ", " + why)));
    answer(gpu, ticket, request, function ? Status::wrong_signature : Status::no_such_function, nullptr, 0);
    return true;
}

} // namespace ptsched::arena::detail
