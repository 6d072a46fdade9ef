// SPDX-License-Identifier: MIT
/* What a runtime's user calls. */
#include "libptsched/base/no_signals.hpp"
#include "libptsched/tasks/here.hpp"
#include <ptsched/device/log.hpp>
#include <ptsched/device/parallel.hpp>

#include <cstring>
#include <sstream>

namespace ptsched::tasks {

namespace {

constexpr unsigned most_workers = 1024, most_streams = 64;

[[noreturn]] void refuse(const std::string &text)
{
    throw Error("tasks: " + text);
}

Clock::time_point time_after(Core::Duration most)
{
    /* A clock has no room for more than some. */
    return most > std::chrono::years(1) ? no_limit() : Clock::now() + most;
}

Options complete(Options options)
{
    if (options.workers > most_workers)
        refuse("workers is " + std::to_string(options.workers) + ", and can be at most " +
               std::to_string(most_workers) + ", or 0 for as many as the host has processors");
    if (!options.streams || options.streams > most_streams)
        refuse("streams is " + std::to_string(options.streams) + ", and can be 1 to " + std::to_string(most_streams));
    if (!options.workers)
        options.workers = device::host_processors();
    if (options.devices.empty())
        options.devices = device::gpus();
    return options;
}

/* Null without a file. */
template <typename Seen> std::unique_ptr<Seen> seen_by(const std::string &path)
{
    return path.empty() ? nullptr : std::make_unique<Seen>(path);
}

} // namespace

std::unique_ptr<Core> Core::make(Options options)
{
    return std::make_unique<CoreImpl>(std::move(options));
}

Core::~Core() = default;

CoreImpl::CoreImpl(Options options)
    : options_(complete(std::move(options))), trace_(seen_by<Trace>(options_.timeline)),
      picture_(seen_by<Picture>(options_.graph)), lane_count_(std::max(options_.workers, 2U)),
      lanes_(std::make_unique<Lane[]>(lane_count_)), host_{
                                                         [this]() -> Task & {
                                                             return make(Here::get().task_of(*this));
                                                         },
                                                         [this](Task &task, std::uint32_t waits) { made(task, waits); },
                                                         [this](Task &task) { release(task); }, picture_.get()},
      root_(nullptr, host_), gpu_(GpuSide::make(options_, *this))
{
    const NoSignals no_signals;
    try {
        for (unsigned i = 1; i < lane_count_; i++)
            threads_.emplace_back([this, i] {
                Here::get() = {this, &lanes_[i], nullptr};
                if (trace_)
                    trace_->name_this_thread("worker " + std::to_string(i));
                work();
            });
        if (gpu_)
            threads_.emplace_back([this] { help(); });
    } catch (...) {
        stop();
        throw;
    }
}

/* Who waits for nothing sees failures in the log. */
CoreImpl::~CoreImpl()
{
    try {
        while (!wait(for_ever))
            ;
    } catch (const std::exception &error) {
        device::log_line(error.what());
    }
    stop();
    release_late();
}

void CoreImpl::stop() noexcept
{
    stops_.store(true, std::memory_order_release);
    sleepers_.wake();
    helper_.wake();
    for (std::thread &thread : threads_)
        thread.join();
    threads_.clear();
}

void CoreImpl::check(const Attributes &attributes, const Function &function, std::span<const Access> accesses) const
{
    if (!attributes.name)
        refuse("a task's name is null: leave Attributes::name as it is if it has none");
    const std::string name = attributes.name;
    for (const Access &access : accesses) {
        if (!access.range.begin && access.range.bytes())
            refuse(name + " declares " + to_string(access.mode) + " of a null pointer");
        if (access.range.rows > 1 && access.range.pitch < access.range.row_bytes)
            refuse(name + " declares rows of " + std::to_string(access.range.row_bytes) + " bytes that are " +
                   std::to_string(access.range.pitch) + " bytes apart: its tile's stride must be at least its columns");
        if (is_weak(access.mode) && function.on_gpu)
            refuse(name + " runs on a GPU, where it makes no tasks: it cannot declare " + to_string(access.mode));
        if (access.mode == Mode::reduction && !access.combine)
            refuse(name + " declares a reduction and does not say how");
    }
    if (!function.on_host && !gpu_)
        refuse(name + " runs on a GPU alone, and the runtime has none: see Options::devices, and either()");
    if (attributes.device >= static_cast<int>(options_.devices.size()) || attributes.device < -1)
        refuse(name + " is to run on device " + std::to_string(attributes.device) + ", and the runtime has " +
               std::to_string(options_.devices.size()) + ", numbered from 0");
}

void CoreImpl::add(const Attributes &attributes, const Function &function, void *from, std::span<const Access> accesses)
{
    check(attributes, function, accesses);
    Task *parent = Here::get().task_of(*this);
    Domain &domain = domain_inside(parent);
    std::uint32_t waits;
    Task *task;
    {
        Guard lock(domain.mutex);
        task = &make(parent);
        task->attributes = attributes;
        task->runs_on_host = function.on_host;
        task->runs_on_gpu = function.on_gpu && gpu_;
        set_function(*task, function, from);
        task->access_count = static_cast<std::uint32_t>(accesses.size());
        if (accesses.size() > Task::inline_accesses)
            task->accesses = new Access[accesses.size()];
        std::copy(accesses.begin(), accesses.end(), task->accesses);
        waits = domain.add(*task, era_.load(std::memory_order_relaxed));
    }
    made(*task, waits);
}

Domain &CoreImpl::domain_inside(Task *parent)
{
    if (!parent)
        return root_;
    if (!parent->inside)
        parent->inside = std::make_unique<Domain>(parent, host_);
    return *parent->inside;
}

/* Of none but the host, it waits for its function alone; those inside it count, too. */
Task &CoreImpl::make(Task *parent)
{
    Lane &mine = lane();
    void *memory;
    if (is_shared(mine)) {
        Guard lock(mine.mutex);
        memory = memory_.take(mine);
    } else {
        memory = memory_.take(mine);
    }
    Task &task = *new (memory) Task;
    task.number = numbers_.fetch_add(1, std::memory_order_relaxed) + 1;
    task.core = this;
    task.parent = parent;
    if (parent)
        parent->unfinished.fetch_add(1, std::memory_order_relaxed);
    count(mine, parent ? &Lane::made_inside : &Lane::made);
    return task;
}

void CoreImpl::made(Task &task, std::uint32_t waits)
{
    if (waits)
        count(lane(), &Lane::edges, waits);
    if (!task.function)
        count(lane(), &Lane::gates_made);
    if (picture_)
        picture_->add(task);
    const std::uint32_t more = Task::being_made - waits;
    if (task.waits.fetch_sub(more, std::memory_order_acq_rel) == more)
        ready(task);
}

void CoreImpl::release(Task &task)
{
    if (task.references.fetch_sub(1, std::memory_order_acq_rel) != 1)
        return;
    task.~Task();
    Lane &mine = lane();
    if (is_shared(mine)) {
        Guard lock(mine.mutex);
        memory_.give_back(mine, &task);
    } else {
        memory_.give_back(mine, &task);
    }
}

Lane &CoreImpl::lane()
{
    const Here &here = Here::get();
    return here.core == this ? *here.lane : lanes_[0];
}

/* The threads that are no workers have one together. */
void CoreImpl::count(Lane &lane, std::atomic<std::uint64_t> Lane::*number, std::uint64_t more)
{
    std::atomic<std::uint64_t> &counter = lane.*number;
    if (is_shared(lane))
        counter.fetch_add(more, std::memory_order_release);
    else
        counter.store(counter.load(std::memory_order_relaxed) + more, std::memory_order_release);
}

std::uint64_t CoreImpl::sum(std::atomic<std::uint64_t> Lane::*number) const
{
    std::uint64_t sum = 0;
    for (unsigned i = 0; i < lane_count_; i++)
        sum += (lanes_[i].*number).load(std::memory_order_acquire);
    return sum;
}

/* What ended is looked at first: then, if it is as many, there was a time at which there was none. */
bool CoreImpl::all_ended() const
{
    const std::uint64_t ended = sum(&Lane::ended);
    return ended == sum(&Lane::made);
}

void CoreImpl::check_may_wait() const
{
    if (Here::get().gives)
        refuse(describe(*Here::get().task) + " gives a GPU work, and cannot wait for tasks meanwhile: those that are "
                                             "to come before it are what it declares");
}

bool CoreImpl::wait(Duration most)
{
    check_may_wait();
    Task *self = Here::get().task_of(*this);
    Domain &domain = domain_inside(self);
    {
        Guard lock(domain.mutex);
        domain.close(nullptr);
    }
    const auto until = time_after(most);
    const Waiting waiting(self);
    const Timed timed(trace_.get(), "wait", self ? self->number : 0);
    const auto done = [&] {
        if (!self)
            return all_ended();
        return self->unfinished.load(std::memory_order_acquire) - self->holds.load(std::memory_order_acquire) == 1;
    };
    if (!work_until(done, until))
        return false;
    if (gpu_ && !self && !work_until([&] { return gpu_->bring_home(nullptr); }, until))
        return false;
    if (gpu_ && self)
        for (const Access &access : self->declared())
            if (!work_until([&] { return gpu_->bring_home(&access.range); }, until))
                return false;
    if (!self)
        release_late();
    throw_failure(domain);
    return true;
}

bool CoreImpl::wait(const Range &range, Duration most)
{
    check_may_wait();
    Task *self = Here::get().task_of(*this);
    Domain &domain = domain_inside(self);
    std::vector<Task *> users;
    {
        Guard lock(domain.mutex);
        domain.close(&range);
        users = domain.users(range);
    }
    const auto until = time_after(most);
    const Waiting waiting(self);
    const Timed timed(trace_.get(), "wait for a range", self ? self->number : 0);
    std::size_t ended = 0;
    const bool all = work_until(
        [&] {
            while (ended < users.size() && users[ended]->ended.is_over())
                ended++;
            return ended == users.size();
        },
        until);
    for (Task *user : users)
        release(*user);
    if (!all || (gpu_ && !work_until([&] { return gpu_->bring_home(&range); }, until)))
        return false;
    throw_failure(domain);
    return true;
}

/* What failed does not count any more: tasks of its ranges that are made from now on run. */
void CoreImpl::throw_failure(Domain &domain)
{
    const std::exception_ptr failure = domain.take_failure();
    if (!failure)
        return;
    era_.fetch_add(1, std::memory_order_relaxed);
    std::rethrow_exception(failure);
}

void *CoreImpl::allocate(std::size_t bytes, Memory memory)
{
    void *array = gpu_ ? gpu_->allocate(bytes, memory) : ::operator new (bytes, std::align_val_t{64});
    Guard lock(arrays_mutex_);
    arrays_[array] = bytes;
    return array;
}

/* What is freed too early stays until no task is left. */
void CoreImpl::release(void *memory) noexcept
{
    Range range{static_cast<std::byte *>(memory), 0, 1, 0};
    {
        Guard lock(arrays_mutex_);
        range.row_bytes = arrays_.at(memory);
        arrays_.erase(memory);
    }
    std::vector<Task *> users;
    {
        Guard lock(root_.mutex);
        users = root_.users(range);
    }
    if (users.empty())
        return free_array(memory);
    const Error error("tasks: an array of " + std::to_string(range.row_bytes) + " bytes was freed while " +
                      describe(*users.front()) + " was to use it: wait before, or let it live longer");
    for (Task *user : users)
        release(*user);
    {
        Guard lock(arrays_mutex_);
        late_.push_back(memory);
    }
    root_.keep_failure(std::make_exception_ptr(error));
}

void CoreImpl::release_late() noexcept
{
    std::vector<void *> late;
    {
        Guard lock(arrays_mutex_);
        std::swap(late, late_);
    }
    for (void *memory : late)
        free_array(memory);
}

void CoreImpl::free_array(void *memory) noexcept
{
    if (gpu_)
        gpu_->release(memory);
    else
        ::operator delete (memory, std::align_val_t{64});
}

State CoreImpl::state() const
{
    State state;
    /* What ended is looked at first: nothing ends that was not made. */
    const std::uint64_t ended = sum(&Lane::ended) + sum(&Lane::ended_inside) - sum(&Lane::gates_ended);
    state.made = sum(&Lane::made) + sum(&Lane::made_inside) - sum(&Lane::gates_made);
    state.on_host = sum(&Lane::ran);
    state.edges = sum(&Lane::edges);
    state.steals = sum(&Lane::steals);
    state.sleeps = sum(&Lane::sleeps);
    state.live = state.made - std::min(ended, state.made);
    if (gpu_)
        gpu_->count(state);
    return state;
}

void *Core::take_hold()
{
    Task *task = Here::get().task;
    if (!task)
        refuse("a hold is taken outside of a task");
    task->core->hold(*task);
    return task;
}

void Core::drop_hold(void *task) noexcept
{
    auto &held = *static_cast<Task *>(task);
    held.core->drop(held);
}

void CoreImpl::hold(Task &task)
{
    task.unfinished.fetch_add(1, std::memory_order_relaxed);
    task.holds.fetch_add(1, std::memory_order_relaxed);
    holds_.fetch_add(1, std::memory_order_relaxed);
}

void CoreImpl::drop(Task &task)
{
    holds_.fetch_sub(1, std::memory_order_relaxed);
    task.holds.fetch_sub(1, std::memory_order_release);
    finish(task);
}

} // namespace ptsched::tasks
