// SPDX-License-Identifier: MIT
/* What a pool's user calls. */
#include "libptsched/base/no_signals.hpp"
#include "libptsched/pool/impl.hpp"

#include <algorithm>
#include <cstring>

namespace ptsched::pool {

namespace {

constexpr unsigned warp = 32, most_threads = 1024, most_priorities = 16;
constexpr unsigned threads_for_a_block = 512; /* of a device, unless the number of blocks is said */

/* A clock has no room for all that may be asked for. */
constexpr std::chrono::hours longest{24 * 365};

[[noreturn]] void refuse(const std::string &text)
{
    throw Error("pool: " + text);
}

void check_range(const char *name, std::size_t value, std::size_t least, std::size_t most)
{
    if (value < least || value > most)
        refuse(std::string(name) + " is " + std::to_string(value) + ", and can be " + std::to_string(least) + " to " +
               std::to_string(most));
}

} // namespace

std::unique_ptr<Core> Core::make(Options options, std::vector<Kind> kinds)
{
    return std::make_unique<CoreImpl>(std::move(options), std::move(kinds));
}

Core::~Core() = default;

bool CoreImpl::Inputs::empty() const
{
    return std::all_of(queues.begin(), queues.end(), [](const auto &queue) { return !queue->size(); });
}

CoreImpl::CoreImpl(Options options, std::vector<Kind> kinds)
    : options_([&] {
          if (options.kernel && options.devices.empty())
              options.devices = device::gpus();
          options.idle = std::min<std::chrono::nanoseconds>(options.idle, longest);
          options.patience = std::min<std::chrono::nanoseconds>(options.patience, longest);
          return std::move(options);
      }()),
      kinds_(std::move(kinds)), host_functions_(kinds_.size()),
      host_step_(device::host_code([this](const std::vector<void *> &) { do_on_host(); }))
{
    check_options();
    for (const Kind &kind : kinds_)
        task_bytes_ = std::max(task_bytes_, kind.bytes);
    any_ = make_inputs();
    if (options_.host_threads) {
        host_ = make_inputs();
        either_ = make_inputs();
        const auto group = device::HostGroup::make(options_.host_threads);
        for (unsigned i = 0; i < options_.host_threads; i++)
            host_queues_.push_back(device::make_host_queue(group));
    }
    for (unsigned i = 0; i < options_.outputs; i++)
        outputs_.push_back(std::make_unique<Output>(options_.capacity, task_bytes_));
    for (device::Device *device : options_.devices) {
        bound_.push_back(make_inputs());
        guests_.push_back(std::make_unique<Guest>(make_resident(*device), options_.attach, options_.idle, [this] {
            news_.store(true, std::memory_order_release);
            work_.wake();
        }));
    }
    const NoSignals no_signals;
    thread_ = std::thread([this] { work(); });
}

void CoreImpl::check_options() const
{
    if (options_.devices.empty() && !options_.host_threads)
        refuse(options_.kernel ? "there is no GPU, and host_threads is 0: nobody would do its tasks"
                               : "it has no kernel, and host_threads is 0: nobody would do its tasks; Options::kernel "
                                 "makes one for a device, say by cuda_code()");
    if (!options_.devices.empty() && !options_.kernel)
        refuse("it has devices and no kernel: Options::kernel makes one for a device, say by cuda_code()");
    check_range("threads", options_.threads, warp, most_threads);
    if (options_.threads % warp)
        refuse("threads is " + std::to_string(options_.threads) + ", and must be a multiple of 32: say " +
               std::to_string((options_.threads + warp - 1) / warp * warp));
    check_range("depth", options_.depth, 1, most_depth);
    if (std::bit_floor(options_.depth) != options_.depth)
        refuse("depth is " + std::to_string(options_.depth) + ", and must be a power of two: say " +
               std::to_string(std::bit_floor(options_.depth)));
    check_range("outputs", options_.outputs, 1, 65536);
    check_range("priorities", options_.priorities, 1, most_priorities);
    check_range("capacity", options_.capacity, 1, std::size_t{1} << 24);
    check_range("the number of kinds of task", kinds_.size(), 1, most_kinds);
    for (const Kind &kind : kinds_)
        check_range(("the size of tasks of " + kind.name).c_str(), kind.bytes, fewest_bytes, most_bytes);
}

CoreImpl::Inputs CoreImpl::make_inputs() const
{
    Inputs inputs;
    for (unsigned i = 0; i < options_.priorities; i++)
        inputs.queues.push_back(std::make_unique<TaskQueue>(options_.capacity, task_bytes_));
    return inputs;
}

std::unique_ptr<Resident> CoreImpl::make_resident(device::Device &device)
{
    std::unique_ptr<device::Code> code = options_.kernel(device);
    const auto sizes = code->parameter_sizes();
    if (sizes && (sizes->size() != 1 || sizes->front() != sizeof(Slots)))
        refuse("its kernel has other parameters than one ptsched::pool::Slots of " + std::to_string(sizeof(Slots)) +
               " bytes: was it compiled with another version of pool.cuh?");
    const device::Geometry geometry{{1, 1, 1}, {options_.threads, 1, 1}, options_.shared_bytes};
    code->prepare(geometry);
    const std::size_t fit = code->most_blocks(geometry).value_or(1);
    std::size_t blocks = options_.blocks;
    if (!blocks)
        blocks = std::max<std::size_t>(
            1, std::min(fit, device.most_threads().value_or(threads_for_a_block) / threads_for_a_block));
    if (blocks > fit)
        refuse("blocks is " + std::to_string(blocks) + ", and " + device.name() + " has at most " +
               std::to_string(fit) + " of this kernel's at once: the others would never begin");
    return std::make_unique<Resident>(device, std::move(code),
                                      Resident::Shape{static_cast<unsigned>(blocks), options_.threads,
                                                      options_.shared_bytes, options_.depth, task_bytes_});
}

CoreImpl::~CoreImpl()
{
    end();
    /* They end what they have. */
    host_queues_.clear();
    for (std::unique_ptr<Guest> &guest : guests_)
        if (std::find(stay_.begin(), stay_.end(), guest.get()) != stay_.end())
            Guest::abandon(std::move(guest));
}

void CoreImpl::on_host(unsigned kind, HostFunction function)
{
    if (!options_.host_threads)
        refuse("host_threads is 0: nothing can be done on the host");
    host_functions_[kind] = std::move(function);
}

TaskQueue &CoreImpl::queue_for(unsigned kind, const Push &how)
{
    check_output(how.output);
    if (how.priority >= options_.priorities)
        refuse("priority is " + std::to_string(how.priority) + ", and can be less than Options::priorities, which is " +
               std::to_string(options_.priorities));
    if (how.where == Where::device) {
        if (guests_.empty())
            refuse("it has no device: push with Where::host");
        if (how.device >= static_cast<int>(guests_.size()) || how.device < -1)
            refuse("device is " + std::to_string(how.device) + ", and the pool has " + std::to_string(guests_.size()));
        return *(how.device < 0 ? any_ : bound_[static_cast<unsigned>(how.device)]).queues[how.priority];
    }
    if (!options_.host_threads || !host_functions_[kind])
        refuse("tasks of kind " + std::to_string(kind) + " have no function for the host: call on_host(), with " +
               "Options::host_threads above 0");
    return *(how.where == Where::host ? host_ : either_).queues[how.priority];
}

std::size_t CoreImpl::push(unsigned kind, const void *tasks, std::size_t count, const Push &how, Duration most)
{
    TaskQueue &queue = queue_for(kind, how);
    Output &output = *outputs_[how.output];
    const std::size_t bytes = kinds_[kind].bytes;
    Label label{0, how.output, static_cast<std::uint8_t>(kind)};
    std::size_t pushed = 0;
    const auto try_it = [&] {
        if (life() != Life::open)
            refuse_push();
        const auto *from = static_cast<const std::byte *>(tasks) + pushed * bytes;
        const std::size_t now = queue.push(count - pushed, [&](std::size_t i, std::size_t all, std::byte *to) {
            std::memcpy(to, from + i * bytes, bytes);
            if (i == 0)
                label.number = output.pushed.fetch_add(all, std::memory_order_relaxed);
            label.number++;
            return label;
        });
        pushed += now;
        if (now && (how.where == Where::host || guests_.empty()))
            ready_on_host(now);
        else if (now)
            work_.wake();
        return pushed == count;
    };
    if (!try_it() && most != Duration::zero())
        room_.wait_until(time_after(most), try_it);
    return pushed;
}

std::size_t CoreImpl::pop(unsigned index, std::size_t count, const Take &take, Duration most)
{
    check_output(index);
    Output &output = *outputs_[index];
    std::size_t popped = 0;
    const auto is_over = [&] {
        popped = output.results.pop(
            count, [&](const std::byte *task, const Label &label) { take(label.kind, task, label.number); });
        if (popped)
            return true;
        throw_failure();
        return life() == Life::stopped || (life() == Life::closed && !unfinished(index));
    };
    if (!is_over() && most != Duration::zero())
        output.arrivals.wait_until(time_after(most), is_over);
    if (!popped)
        return 0;
    output.popped.fetch_add(popped, std::memory_order_relaxed);
    if (options_.host_threads)
        output.rooms.wake();
    if (life() != Life::open)
        output.arrivals.wake();
    return popped;
}

std::size_t CoreImpl::unfinished(unsigned index) const
{
    check_output(index);
    const Output &output = *outputs_[index];
    const std::uint64_t popped = output.popped.load(std::memory_order_acquire);
    return output.pushed.load(std::memory_order_acquire) - popped;
}

void CoreImpl::check_output(unsigned output) const
{
    if (output >= outputs_.size())
        refuse("output is " + std::to_string(output) + ", and the pool has " + std::to_string(outputs_.size()));
}

void CoreImpl::close()
{
    end_with(Life::closed);
}

void CoreImpl::stop()
{
    end_with(Life::stopped);
}

void CoreImpl::end()
{
    stop();
    Guard lock(end_mutex_);
    if (thread_.joinable())
        thread_.join();
}

/* It only gets worse. */
void CoreImpl::end_with(Life life)
{
    Life before = life_.load(std::memory_order_relaxed);
    while (before < life && !life_.compare_exchange_weak(before, life, std::memory_order_acq_rel))
        ;
    work_.wake();
    room_.wake();
    for (const auto &output : outputs_)
        for (Sleepers *sleepers : {&output->arrivals, &output->rooms})
            sleepers->wake();
    for (Sleepers &senders : senders_)
        senders.wake();
}

bool CoreImpl::wait(Duration most)
{
    const auto until = time_after(most);
    for (const auto &output : outputs_) {
        const bool all = output->arrivals.wait_until(until, [&] {
            throw_failure();
            return life() == Life::stopped ||
                   output->arrived.load(std::memory_order_acquire) == output->pushed.load(std::memory_order_acquire);
        });
        if (!all)
            return false;
    }
    return true;
}

void CoreImpl::throw_failure() const
{
    if (life() != Life::failed)
        return;
    Guard lock(failure_mutex_);
    std::rethrow_exception(failure_);
}

void CoreImpl::refuse_push() const
{
    throw_failure();
    throw Closed(life() == Life::closed ? "pool: it is closed: no more tasks may come" : "pool: it was stopped");
}

State CoreImpl::state() const
{
    State state;
    state.on_devices = done_on_devices_.load(std::memory_order_relaxed);
    state.on_host = done_on_host_.load(std::memory_order_relaxed);
    state.in_slots = in_slots_.load(std::memory_order_relaxed);
    for (const auto &guest : guests_) {
        state.launches += guest->launches();
        state.parks += guest->parks();
        state.last_park = std::max<std::chrono::nanoseconds>(state.last_park, guest->last_park());
    }
    state.resident = state.launches != state.parks;
    return state;
}

} // namespace ptsched::pool
