// SPDX-License-Identifier: MIT
/* What a runtime's user calls. */
#include "libptsched/base/no_signals.hpp"
#include "libptsched/tasks/here.hpp"
#include <ptsched/device/log.hpp>
#include <ptsched/device/parallel.hpp>

#include <algorithm>
#include <iterator>

namespace ptsched::tasks {

namespace {

constexpr unsigned most_workers = 1024, most_streams = 64;

[[noreturn]] void refuse(const std::string &text)
{
    throw Error("tasks: " + text);
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
      picture_(seen_by<Picture>(options_.graph)),
      checker_(options_.check ? std::make_unique<Checker>([this] { settle(); }) : nullptr),
      lanes_(std::max(options_.workers, 2U)),
      crew_(lanes_, *this), host_{[this]() -> Task & { return make(Here::get().task_of(*this)); },
                                  [this](Task &task, std::uint32_t waits) { made(task, waits); },
                                  [this](Task &task) { release(task); }, picture_.get()},
      root_(nullptr, host_), gpu_(GpuSide::make(options_, *this))
{
    /* Tasks run one at a time, in who waits: so nobody but them does anything meanwhile. */
    if (checker_)
        return;
    const NoSignals no_signals;
    try {
        for (unsigned i = 1; i < lanes_.size(); i++)
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

void Core::wait_at_end() noexcept
{
    try {
        while (!wait(for_ever))
            ;
    } catch (const std::exception &error) {
        device::log_line(error.what());
    }
}

CoreImpl::~CoreImpl()
{
    wait_at_end();
    while (holds_.load(std::memory_order_acquire))
        std::this_thread::yield();
    stop();
    release_late();
}

void CoreImpl::stop() noexcept
{
    stops_.store(true, std::memory_order_release);
    crew_.wake_all();
    helper_.wake();
    for (std::thread &thread : threads_)
        thread.join();
    threads_.clear();
}

/* @does: what @who does with it. */
void CoreImpl::check_rows(const Range &range, const char *who, const char *does)
{
    if (range.rows > 1 && range.pitch < range.row_bytes)
        refuse(std::string(who) + " " + does + " rows of " + std::to_string(range.row_bytes) + " bytes that are " +
               std::to_string(range.pitch) + " bytes apart: a tile's stride must be at least its columns");
}

void CoreImpl::check(const Attributes &attributes, const Function &function, std::span<const Access> accesses) const
{
    if (!attributes.name)
        refuse("a task's name is null: leave Attributes::name as it is if it has none");
    const auto refuse_it = [&](const std::string &why) { refuse(attributes.name + (" " + why)); };
    for (const Access &access : accesses) {
        if (!access.range.begin && access.range.bytes())
            refuse_it(std::string("declares ") + to_string(access.mode) + " of a null pointer");
        check_rows(access.range, attributes.name, "declares");
        if (is_weak(access.mode) && function.on_gpu)
            refuse_it(std::string("runs on a GPU, where it makes no tasks: it cannot declare ") +
                      to_string(access.mode));
        if (access.mode == Mode::reduction && !access.combine)
            refuse_it("declares a reduction and does not say how");
        if (access.mode == Mode::reduction && !(function.on_gpu && gpu_))
            check_alone(attributes, access, accesses);
    }
    if (!function.on_host && !gpu_)
        refuse_it("runs on a GPU alone, and the runtime has none: see Options::devices, and either()");
    if (attributes.device >= static_cast<int>(options_.devices.size()) || attributes.device < -1)
        refuse_it("is to run on device " + std::to_string(attributes.device) + ", and the runtime has " +
                  std::to_string(options_.devices.size()) + ", numbered from 0");
}

/* What a task adds to a copy of its own cannot be read meanwhile, nor added to in another way. */
void CoreImpl::check_alone(const Attributes &attributes, const Access &reduction, std::span<const Access> accesses)
{
    for (const Access &other : accesses) {
        const bool is_same = other.mode == Mode::reduction && other.range == reduction.range && other.combine &&
                             *other.combine == *reduction.combine;
        if (overlap(reduction.range, other.range) && !is_same)
            refuse(attributes.name + std::string(" declares a reduction and, of the same bytes, ") +
                   to_string(other.mode) + ": a task of its own can do one of them");
    }
}

void Core::check_list(const Attributes &attributes, std::span<const Access> accesses)
{
    for (const Access &access : accesses)
        if (access.mode == Mode::reduction)
            refuse(attributes.name + std::string(" declares a reduction in a list, where its function would not find "
                                                 "its copy: declare it as an argument, say reduction<Sum>(x)"));
}

void CoreImpl::add(const Attributes &attributes, const Function &function, void *from, std::span<const Access> accesses)
{
    check_may_add(attributes);
    check(attributes, function, accesses);
    Task *parent = Here::get().task_of(*this);
    Domain &domain = domain_inside(parent);
    const Counted busy(lane().running);
    std::uint32_t waits;
    Task *task;
    {
        Guard lock(domain.mutex);
        task = &make(parent);
        task->attributes = attributes;
        task->runs_on_host = function.on_host;
        task->runs_on_gpu = function.on_gpu && gpu_;
        try {
            set_accesses(*task, accesses);
            set_function(*task, function, from);
        } catch (...) {
            /* It was counted: it ends, and does nothing. */
            made(*task, 0);
            throw;
        }
        if (checker_)
            checker_->declare(*task);
        waits = domain.add(*task, era_.load(std::memory_order_relaxed));
    }
    const Checker::Pause pause(gpu_ != nullptr);
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
    Task &task = *new (take_memory(mine)) Task;
    task.number = numbers_.fetch_add(1, std::memory_order_relaxed) + 1;
    task.core = this;
    task.parent = parent;
    if (parent)
        parent->unfinished.fetch_add(1, std::memory_order_relaxed);
    lanes_.count(mine, parent ? &Lane::made_inside : &Lane::made);
    return task;
}

void CoreImpl::made(Task &task, std::uint32_t waits)
{
    if (waits)
        lanes_.count(lane(), &Lane::edges, waits);
    if (!task.function)
        lanes_.count(lane(), &Lane::gates_made);
    if (picture_)
        picture_->add(task);
    if (gpu_ && waits && task.settled && task.runs_on_gpu_alone())
        gpu_->expect(task);
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
    const auto lock = lock_if_shared(mine);
    memory_.give_back(mine, &task);
}

void *CoreImpl::take_memory(Lane &mine)
{
    const auto lock = lock_if_shared(mine);
    return memory_.take(mine);
}

/* The others are each one thread's. */
std::unique_lock<SmallMutex> CoreImpl::lock_if_shared(Lane &mine) const
{
    return lanes_.is_shared(mine) ? std::unique_lock(mine.mutex) : std::unique_lock<SmallMutex>();
}

Lane &CoreImpl::lane()
{
    const Here &here = Here::get();
    return here.core == this ? *here.lane : lanes_.shared();
}

void *CoreImpl::allocate(std::size_t bytes, Memory memory)
{
    const bool is_guarded = checker_ && (!gpu_ || memory == Memory::copied);
    void *array = is_guarded ? checker_->allocate(bytes)
                  : gpu_     ? gpu_->allocate(bytes, memory)
                             : ::operator new (bytes, std::align_val_t{64}, std::nothrow);
    if (!array)
        throw device::OutOfMemory("tasks: there is no memory for an array of " + std::to_string(bytes) + " bytes");
    if (checker_ && !is_guarded)
        checker_->add_managed(array, bytes);
    Guard lock(arrays_mutex_);
    arrays_[array] = bytes;
    return array;
}

void CoreImpl::keep_on_devices(void *memory)
{
    {
        Guard lock(arrays_mutex_);
        if (!arrays_.count(memory))
            throw Error("tasks: what is to be kept on devices is no array of this runtime, or not its begin");
    }
    if (gpu_)
        gpu_->keep_on_devices(memory);
}

/* That have not ended, of the tasks that nobody has made, and those inside the calling task and who has made that. */
std::vector<Task *> CoreImpl::users_of_array(const Range &range)
{
    std::vector<Task *> users;
    const auto add_those = [&](Domain &domain) {
        Guard lock(domain.mutex);
        const std::vector<Task *> found = domain.users(range);
        users.insert(users.end(), found.begin(), found.end());
    };
    add_those(root_);
    for (const Task *task = Here::get().task_of(*this); task; task = task->parent)
        if (task->inside)
            add_those(*task->inside);
    return users;
}

/* What is freed too early stays until those that use it have ended. */
void CoreImpl::release(void *memory) noexcept
{
    Range range{static_cast<std::byte *>(memory), 0, 1, 0};
    {
        Guard lock(arrays_mutex_);
        range.row_bytes = arrays_.at(memory);
        arrays_.erase(memory);
    }
    std::vector<Task *> users = users_of_array(range);
    if (users.empty())
        return free_array(memory);
    const Error error("tasks: an array of " + std::to_string(range.row_bytes) + " bytes was freed while " +
                      describe(*users.front()) + " was to use it: wait before, or let it live longer");
    {
        Guard lock(arrays_mutex_);
        late_.push_back({memory, std::move(users)});
    }
    root_.keep_failure(std::make_exception_ptr(error));
}

void CoreImpl::release_late() noexcept
{
    const auto is_used = [](const Late &late) {
        return !std::all_of(late.users.begin(), late.users.end(), [](Task *user) { return user->ended.is_over(); });
    };
    std::vector<Late> unused;
    {
        Guard lock(arrays_mutex_);
        const auto first = std::stable_partition(late_.begin(), late_.end(), is_used);
        std::move(first, late_.end(), std::back_inserter(unused));
        late_.erase(first, late_.end());
    }
    for (const Late &late : unused) {
        for (Task *user : late.users)
            release(*user);
        free_array(late.memory);
    }
}

void CoreImpl::free_array(void *memory) noexcept
{
    if (checker_ && checker_->release(memory))
        return;
    if (gpu_)
        gpu_->release(memory);
    else
        ::operator delete (memory, std::align_val_t{64});
}

State CoreImpl::state() const
{
    State state;
    /* What ended is looked at first: nothing ends that was not made. */
    const std::uint64_t ended =
        lanes_.sum(&Lane::ended) + lanes_.sum(&Lane::ended_inside) - lanes_.sum(&Lane::gates_ended);
    state.made = lanes_.sum(&Lane::made) + lanes_.sum(&Lane::made_inside) - lanes_.sum(&Lane::gates_made);
    state.on_host = lanes_.sum(&Lane::ran);
    state.edges = lanes_.sum(&Lane::edges);
    state.steals = lanes_.sum(&Lane::steals);
    state.sleeps = lanes_.sum(&Lane::sleeps);
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
    const Checker::Pause pause;
    task.holds.fetch_sub(1, std::memory_order_release);
    finish(task);
    /* From then on the runtime may be gone. */
    holds_.fetch_sub(1, std::memory_order_release);
}

} // namespace ptsched::tasks
