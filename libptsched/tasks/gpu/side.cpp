// SPDX-License-Identifier: MIT
#include "libptsched/tasks/gpu/side_impl.hpp"

#include <algorithm>

namespace ptsched::tasks {

namespace {

std::vector<device::Device *> checked(std::vector<device::Device *> devices)
{
    constexpr std::size_t most = 64;
    if (devices.size() > most)
        throw Error("tasks: Options::devices has " + std::to_string(devices.size()) + ", and can have " +
                    std::to_string(most) + " at most");
    for (auto device = devices.begin(); device != devices.end(); ++device) {
        if (!*device)
            throw Error("tasks: Options::devices has a null pointer: it is to name GPUs of gpus()");
        if (std::find(devices.begin(), device, *device) != device)
            throw Error("tasks: Options::devices names " + (*device)->name() + " twice");
    }
    return devices;
}

} // namespace

std::unique_ptr<GpuSide> GpuSide::make(const Options &options, GpuListener &listener)
{
    if (options.devices.empty())
        return nullptr;
    return std::make_unique<GpuSideImpl>(options, listener);
}

GpuSideImpl::GpuSideImpl(const Options &options, GpuListener &listener)
    : listener_(listener), stream_count_(static_cast<unsigned>(options.devices.size()) * Streams::count(options)),
      arrays_(options.devices), directory_(arrays_, measure_rates(checked(options.devices))),
      placement_(options.devices.size(), options.workers, directory_), distribution_(directory_),
      has_turns_(options.attach != device::Attach::no)
{
    for (device::Device *device : options.devices) {
        const auto index = static_cast<unsigned>(gpus_.size());
        gpus_.push_back(std::make_unique<Streams>(*device, index, options, index * Streams::count(options),
                                                  stream_count_, directory_, placement_, listener));
    }
    /* That there is such memory is to be known before an array is made. */
    if (options.memory != Memory::copied)
        arrays_.release(arrays_.make(1, options.memory));
}

/* With several devices, nobody knows yet where it will run. */
void GpuSideImpl::expect(Task &task)
{
    if (gpus_.size() == 1)
        gpus_.front()->expect(task);
}

void GpuSideImpl::ready(Task &task)
{
    work_.fetch_add(1, std::memory_order_release);
    Task *head = ready_.load(std::memory_order_relaxed);
    do
        task.next = head;
    while (!ready_.compare_exchange_weak(head, &task, std::memory_order_release, std::memory_order_relaxed));
}

/* Who has just looked may have missed what came meanwhile: so it looks again when the others may serve, too. */
bool GpuSideImpl::serve()
{
    bool some = false;
    do {
        if (!serving_.try_lock())
            return some;
        const Guard serving(serving_, std::adopt_lock);
        some = serve_alone() || some;
    } while (ready_.load(std::memory_order_acquire) && !some);
    return some;
}

bool GpuSideImpl::serve_alone()
{
    /* To ask what has ended takes longer than to give a task: where much is given, that is done now and then. */
    constexpr std::chrono::microseconds rhythm{5};
    const device::BorrowedThread borrowed;
    const unsigned given = give();
    const auto now = Clock::now();
    if (given && now - collected_ < rhythm)
        return true;
    collected_ = now;
    const unsigned ended = collect(), home = collect_homes();
    directory_.collect();
    if (has_turns_)
        look_after_turns();
    return ended || home || given;
}

void GpuSideImpl::take_ready()
{
    if (ready_.load(std::memory_order_relaxed))
        place(ready_.exchange(nullptr, std::memory_order_acquire));
    if (gpus_.size() > 1)
        distribute();
}

/* In the order in which they came. @task: the last one that did. */
void GpuSideImpl::place(Task *task)
{
    Task *first = nullptr;
    while (task) {
        Task::prefetch<Task::Use::read>(task);
        Task *const before = std::exchange(task->next, first);
        first = std::exchange(task, before);
    }
    while (first) {
        Task &next = *std::exchange(first, first->next);
        if (gpus_.size() > 1 && next.attributes.device < 0) {
            distribution_.add(next);
            continue;
        }
        const int device = std::max(next.attributes.device, 0);
        if (gpus_.size() > 1)
            directory_.expect(next, static_cast<unsigned>(device));
        gpus_[static_cast<std::size_t>(device)]->push(next);
    }
}

/* Who has the least to do is the first; if there is nothing for it, there may be for the next one. */
void GpuSideImpl::distribute()
{
    if (distribution_.is_empty())
        return;
    loads_.clear();
    for (const auto &gpu : gpus_)
        loads_.push_back(gpu->load());
    std::vector<bool> has_nothing(gpus_.size());
    for (;;) {
        std::size_t least = gpus_.size();
        for (std::size_t i = 0; i < gpus_.size(); i++)
            if (!has_nothing[i] && (least == gpus_.size() || loads_[i] < loads_[least]))
                least = i;
        if (least == gpus_.size())
            return;
        if (Task *const task = distribution_.take(least, loads_)) {
            gpus_[least]->push(*task);
            loads_[least]++;
        } else {
            has_nothing[least] = true;
        }
    }
}

/* What becomes ready by that goes with it. */
unsigned GpuSideImpl::give()
{
    const auto take = [this]() PTSCHED_NO_THREAD_SAFETY_ANALYSIS { take_ready(); };
    unsigned all = 0, given;
    do {
        take();
        given = 0;
        for (const auto &gpu : gpus_)
            given += gpu->give(most_at_once, take);
        all += given;
    } while (given && all < most_at_once && ready_.load(std::memory_order_relaxed));
    return all;
}

unsigned GpuSideImpl::collect()
{
    unsigned count = 0;
    for (const auto &gpu : gpus_)
        count += gpu->collect();
    if (count)
        work_.fetch_sub(count, std::memory_order_release);
    return count;
}

/* Copies are work of the device, too. */
bool GpuSideImpl::may_copy() const
{
    return !has_turns_ || std::all_of(gpus_.begin(), gpus_.end(), [](const auto &gpu) {
        return gpu->visit().is_there() && !gpu->visit().is_recalled();
    });
}

void GpuSideImpl::want_home(bool yes)
{
    constexpr std::chrono::milliseconds patience{2};
    if (yes)
        wanted_until_.store((Clock::now() + patience).time_since_epoch().count(), std::memory_order_relaxed);
    if (wants_home_.exchange(yes, std::memory_order_acq_rel) == yes)
        return;
    if (yes)
        work_.fetch_add(1, std::memory_order_release);
    else
        work_.fetch_sub(1, std::memory_order_release);
}

void GpuSideImpl::look_after_turns()
{
    /* Who waits asks again and again, or waits no more. */
    if (Clock::now().time_since_epoch().count() > wanted_until_.load(std::memory_order_relaxed))
        want_home(false);
    const bool wanted = wants_home_.load(std::memory_order_acquire) || home_count_.load(std::memory_order_acquire);
    for (const auto &gpu : gpus_) {
        if (wanted && gpu->visit().may_give())
            continue;
        if (gpu->visit().is_there() && !gpu->has_work() && !directory_.is_copying())
            gpu->leave();
    }
}

bool GpuSideImpl::bring_home(Task &task)
{
    const device::Exempt exempt(has_turns_);
    if (directory_.bring_home(task, may_copy()))
        return true;
    work_.fetch_add(1, std::memory_order_release);
    Guard lock(homes_mutex_);
    homes_.push_back(&task);
    home_count_.store(homes_.size(), std::memory_order_release);
    return false;
}

unsigned GpuSideImpl::collect_homes()
{
    if (!home_count_.load(std::memory_order_acquire))
        return 0;
    std::deque<Task *> waiting;
    const device::Exempt exempt(has_turns_);
    {
        Guard lock(homes_mutex_);
        std::swap(waiting, homes_);
    }
    unsigned count = 0, in_vain = 0;
    std::deque<Task *> left;
    for (Task *task : waiting) {
        std::exception_ptr failure;
        bool is_home = false;
        try {
            is_home = in_vain < most_looks && directory_.bring_home(*task, may_copy());
        } catch (...) {
            failure = std::current_exception();
        }
        if (!is_home && !failure) {
            in_vain++;
            left.push_back(task);
            continue;
        }
        count++;
        work_.fetch_sub(1, std::memory_order_release);
        listener_.is_home(*task, std::move(failure));
    }
    Guard lock(homes_mutex_);
    homes_.insert(homes_.begin(), left.begin(), left.end());
    home_count_.store(homes_.size(), std::memory_order_release);
    return count;
}

bool GpuSideImpl::bring_home(const Range *range)
{
    const device::Exempt exempt(has_turns_);
    try {
        const bool is_home = directory_.bring_home(range, may_copy());
        want_home(has_turns_ && !is_home);
        return is_home;
    } catch (...) {
        want_home(false);
        throw;
    }
}

void *GpuSideImpl::allocate(std::size_t bytes, Memory memory)
{
    return arrays_.make(bytes, memory);
}

void GpuSideImpl::release(void *memory) noexcept
{
    auto *begin = static_cast<std::byte *>(memory);
    directory_.forget(arrays_.range_of(begin));
    arrays_.release(begin);
}

void GpuSideImpl::keep_on_devices(void *memory)
{
    auto *begin = static_cast<std::byte *>(memory);
    if (arrays_.keep(begin))
        directory_.keep(arrays_.range_of(begin));
}

void GpuSideImpl::count(State &state) const
{
    for (const auto &gpu : gpus_) {
        state.on_devices += gpu->ended();
        state.stream_waits += gpu->stream_waits();
        state.batches += gpu->batches();
    }
    state.bytes_to_devices += directory_.bytes_to_devices();
    state.bytes_to_host += directory_.bytes_to_host();
    state.bytes_between += directory_.bytes_between();
}

} // namespace ptsched::tasks
