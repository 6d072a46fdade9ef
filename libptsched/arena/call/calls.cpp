// SPDX-License-Identifier: MIT
/* How Calls are made, and functions found. */
#include "libptsched/arena/call/impl.hpp"

#include <algorithm>
#include <bit>

namespace ptsched::arena::detail {

namespace {

[[noreturn]] void refuse(const std::string &text)
{
    throw Error("calls: " + text);
}

void check_range(const std::string &name, std::size_t value, std::size_t least, std::size_t most)
{
    if (value < least || value > most)
        refuse(name + " is " + std::to_string(value) + ", and can be " + std::to_string(least) + " to " +
               std::to_string(most));
}

/* Each as large that it holds what any function needs, and on lines of its own. */
unsigned bytes_beside(const Functions &functions)
{
    return align_up(std::max(functions.most_bytes(), 1U), 64);
}

CallOptions with_devices(CallOptions options)
{
    if (!options.kernel)
        refuse("there is no kernel: CallOptions::kernel makes one for a device by its name, say by cuda_code()");
    if (options.devices.empty() && device::gpus().empty())
        refuse("there is no GPU, or no driver for it");
    if (options.devices.empty())
        options.devices = {device::gpus().front()};
    return options;
}

} // namespace

std::unique_ptr<CallCore> CallCore::make(CallOptions options)
{
    return std::make_unique<CallsImpl>(std::move(options));
}

CallCore::~CallCore() = default;

CallsImpl::CallsImpl(CallOptions options)
    : options_(with_devices(std::move(options))), gpus_([this] {
          check_options();
          std::vector<std::unique_ptr<Gpu>> gpus;
          for (device::Device *device : options_.devices) {
              gpus.push_back(std::make_unique<Gpu>(*device, options_.line_slots));
              make_spread(*gpus.back());
          }
          return gpus;
      }()),
      functions_(*options_.devices[0], options_.kernel, options_.table), records_(bytes_beside(functions_)),
      pool_(make_pool()), server_([this](Server &server) { return look(server); }, options_.host_threads)
{
    for (unsigned i = 0; i < gpus_.size(); i++)
        gpus_[i]->blocks = pool_->blocks(i);
    add_ready_made(host_functions_, options_);
}

CallsImpl::~CallsImpl()
{
    /* What has begun may call the host until it has ended. */
    for (const auto &gpu : gpus_)
        if (gpu->queue)
            settle(*gpu->queue);
    pool_->end();
    server_.stop();
    for (const auto &gpu : gpus_)
        look_after_spread(*gpu);
    if (!pool_->state().resident)
        return;
    /* A call does not end, which was logged, and its block may look for an answer: what it looks at stays. */
    static Mutex mutex;
    static auto &kept PTSCHED_GUARDED_BY(mutex) = *new std::vector<std::unique_ptr<Gpu>>;
    Guard lock(mutex);
    for (std::unique_ptr<Gpu> &gpu : gpus_)
        kept.push_back(std::move(gpu));
}

void CallsImpl::check_options() const
{
    check_range("slot_bytes", options_.slot_bytes, 32, pool::most_bytes);
    check_range("line_slots", options_.line_slots, 1, 1U << 20);
    if (!std::has_single_bit(options_.line_slots))
        refuse("line_slots is " + std::to_string(options_.line_slots) + ", and must be a power of two: say " +
               std::to_string(std::bit_ceil(options_.line_slots)));
    check_range("host_threads", options_.host_threads, 1, 1024);
}

std::unique_ptr<pool::Core> CallsImpl::make_pool() const
{
    for (std::size_t i = 1; i < options_.devices.size(); i++) {
        device::Device &device = *options_.devices[i];
        if (!(Functions(device, options_.kernel, options_.table) == functions_))
            refuse("the kernel " + options_.table + " of " + device.name() + " has other functions than that of " +
                   options_.devices[0]->name());
    }
    std::vector<pool::Core::Kind> kinds;
    for (std::size_t i = 0; i < functions_.size(); i++) {
        const FunctionText &one = functions_[i];
        const std::size_t room = std::max({one.argument_bytes, one.result_bytes, 1U}) + sizeof(Header);
        kinds.push_back({one.name, std::max<std::size_t>(std::min<std::size_t>(room, options_.slot_bytes),
                                                         sizeof(Header) + sizeof(void *))});
    }
    pool::Options options;
    options.kernel = [make = options_.kernel, table = options_.table](device::Device &gpu) { return make(gpu, table); };
    options.devices = options_.devices;
    options.threads = options_.threads;
    options.shared_bytes = options_.shared_bytes;
    options.blocks = options_.blocks;
    /* A call is never behind another, which may be waiting for it. */
    options.depth = 1;
    options.attach = options_.attach;
    options.idle = options_.idle;
    options.patience = options_.patience;
    return pool::Core::make(std::move(options), std::move(kinds));
}

void CallsImpl::check_how(const Run &how) const
{
    if (how.gpu >= gpus_.size())
        refuse("gpu is " + std::to_string(how.gpu) + ", and there are " + std::to_string(gpus_.size()) +
               " in CallOptions::devices");
    if (!how.blocks && how.cooperative)
        refuse("a cooperative call has several blocks: Run::blocks is 0");
    if (how.blocks)
        check_range("threads", how.threads, 1, 1024);
}

void CallsImpl::check_signature(const FunctionText &function, const SignatureOf &signature) const
{
    if (function.signature != signature.text)
        refuse(describe(function.name, signature.text) + ", is asked for, and the kernel " + options_.table + " has " +
               describe(function.name, function.signature));
}

const Target &CallsImpl::find(const std::string &name, const SignatureOf &signature, const Run &how)
{
    const std::size_t number = functions_.find(name);
    if (number == functions_.size())
        refuse(describe(name, signature.text) + ", is no function of the kernel " + options_.table + ", which has " +
               functions_.list() +
               (host_functions_.number(name) ? "; the host has one of that name, which is called at once" : ""));
    return at(static_cast<unsigned>(number) + 1, signature, how);
}

const Target &CallsImpl::at(unsigned number, const SignatureOf &signature, const Run &how)
{
    if (!number || number > functions_.size())
        refuse(number ? "a pointer has the number " + std::to_string(number) + ", and the kernel " + options_.table +
                            " has " + std::to_string(functions_.size()) + " functions: is it of other Calls?"
                      : "a pointer that is called leads to nothing: Calls::pointer() makes one");
    const FunctionText &function = functions_[--number];
    check_signature(function, signature);
    check_how(how);
    Guard lock(targets_mutex_);
    for (const auto &target : targets_)
        if (target->number == number && target->how == how)
            return *target;
    if (how.blocks)
        prepare_spread(how);
    const unsigned most = std::max(function.argument_bytes, function.result_bytes);
    const std::size_t room = how.blocks ? spread_bytes : options_.slot_bytes - sizeof(Header);
    return *targets_.emplace_back(
        std::make_unique<Target>(Target{function.name,
                                        function.signature,
                                        number,
                                        function.argument_bytes,
                                        function.result_bytes,
                                        {signature.pointers.begin(), signature.pointers.end()},
                                        signature.returns_pointer,
                                        most > room,
                                        how}));
}

unsigned CallsImpl::number(const std::string &name, const SignatureOf &signature)
{
    const std::size_t number = functions_.find(name);
    const unsigned here = host_functions_.number(name);
    if (number < functions_.size() && here)
        refuse("'" + name + "' is a function of the host and of the kernel " + options_.table +
               ": a pointer to it would lead to both; give one another name");
    if (number < functions_.size()) {
        check_signature(functions_[number], signature);
        return static_cast<unsigned>(number) + 1;
    }
    if (!here)
        refuse(describe(name, signature.text) + ", is no function of the kernel " + options_.table + ", which has " +
               functions_.list() + ", nor of the host, which has " + host_functions_.list());
    if (const HostFunction *function = host_functions_.by_number(here); function->signature != signature.text)
        refuse(describe(name, signature.text) + ", is asked for, and the host has " +
               describe(name, function->signature));
    return here | host_bit;
}

void CallsImpl::add(const std::string &name, const SignatureOf &signature, Invoke invoke, Waits waits)
{
    if (name.starts_with(own_prefix))
        refuse("'" + name + "' cannot be the name of a function: those that begin with " + own_prefix +
               " are the library's");
    host_functions_.add({name, signature, std::move(invoke), waits});
}

void CallsImpl::call_here(unsigned number, const SignatureOf &signature, const std::byte *arguments, std::byte *result)
{
    const HostFunction *function = host_functions_.by_number(number & ~host_bit);
    if (!function || function->signature != signature.text)
        refuse("a pointer to " + std::string(signature.text) + " leads to " +
               (function ? describe(function->name, function->signature) : "no function of the host"));
    function->invoke(arguments, result);
}

void CallsImpl::check_pointer(const void *pointer, const std::string &what) const
{
    if (!pointer || !options_.hooks.contains || options_.hooks.contains(pointer))
        return;
    char text[32];
    std::snprintf(text, sizeof(text), "%p", pointer);
    refuse(what + " is " + text +
           ", which is private memory of one side: the other does not have it there. Allocate it in an arena; what is "
           "no pointer to be followed is passed as a number");
}

void CallsImpl::collect_pointers(std::span<const PointerAt> places, const std::byte *arguments, const std::string &name,
                                 std::vector<const void *> &to) const
{
    to.clear();
    if (!options_.hooks.contains && !options_.hooks.before_call && !options_.hooks.after_call)
        return;
    for (const PointerAt &place : places) {
        const void *pointer;
        std::memcpy(&pointer, arguments + place.offset, sizeof(pointer));
        check_pointer(pointer, "argument " + std::to_string(place.argument) + " of '" + name + "'");
        to.push_back(pointer);
    }
}

Line CallsImpl::line(unsigned gpu)
{
    check_how({.gpu = gpu});
    return {gpus_[gpu]->line.channel()};
}

void CallsImpl::listen(bool yes)
{
    yes ? server_.begin() : server_.end();
}

void CallsImpl::check()
{
    std::exception_ptr failure;
    {
        Guard lock(failures_mutex_);
        if (failures_.empty())
            return;
        failure = failures_.front();
        failures_.erase(failures_.begin());
    }
    std::rethrow_exception(failure);
}

} // namespace ptsched::arena::detail
