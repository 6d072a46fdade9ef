/* SPDX-License-Identifier: MIT */
/*
 * A pool as a device of graphs: a task of the graph (ptask/graph.hpp) is one of the pool, in a slot of a kernel that
 * stays, instead of a launch. Its memory is the GPU's, so that datablocks pass between such tasks and others of that
 * GPU without a copy. What the struct of a task has are the parameters of the graph's, whose ports say what they are:
 *
 *	struct Scale { const float *x; float *y; unsigned n; float by; };
 *
 *	__device__ void scale(Scale &task, const ptsched::pool::Block &)
 *	{
 *		for (unsigned i = threadIdx.x; i < task.n; i += blockDim.x)
 *			task.y[i] = task.by * task.x[i];
 *	}
 *	extern "C" __global__ void tasks(ptsched::pool::Slots slots) { ptsched::pool::serve<scale>(slots); }
 *
 *	Options options{.kernel = [](auto &gpu) { return cuda_code(gpu, module, "tasks"); }};
 *	TaskDevice<Scale> slots(*device::gpus()[0], options);
 *	DeviceKernel scale{{&slots.device()}, slots.kernel<&Scale::x, &Scale::y, &Scale::n, &Scale::by>(), "scale"};
 *	graph.kernel("scale", scale, {in("x", vector), out("y", vector), constant("n", 256u), constant("by", 2.0f)});
 *
 * A task is one block of Options::threads, whatever geometry the graph's task has. It may have been written by others
 * since the kernel came what it reads: loads that the compiler takes for such of constant data (__ldg(), or by pointers
 * that are const and __restrict__) may find what was there before. And others read what it writes: only_task is not for
 * these functions.
 *
 * Who frees memory of the GPU, or loads a module, may have to wait for the kernel to leave, which it does when it has
 * nothing to do, after Options::idle.
 */
#ifndef PTSCHED_POOL_DEVICE_HPP
#define PTSCHED_POOL_DEVICE_HPP

#include <ptsched/pool.hpp>

#include <type_traits>

#pragma GCC visibility push(default)

namespace ptsched::pool {

/* Where a parameter is in the struct of a task, in bytes. */
struct Member {
    std::size_t offset, bytes;
    bool is_address;
};

template <typename Task, typename Value> Member member_of(Value Task::*member)
{
    static_assert(std::is_trivially_copyable_v<Value>, "parameters are copied byte by byte");
    alignas(Task) const std::byte room[sizeof(Task)]{};
    const auto &task = reinterpret_cast<const Task &>(room);
    const auto *at = reinterpret_cast<const std::byte *>(&(task.*member));
    return {static_cast<std::size_t>(at - room), sizeof(Value), std::is_pointer_v<Value>};
}

/*
 * Without the types of its tasks. Its queues do one task after another, as those of every device; graphs use many. Of
 * graphs that are scheduled by ptsched, what runs here has the pool's turns (Options::attach) and not the graph's.
 */
class SlotDevice : public device::Device {
public:
    /*
     * A device is never destroyed. What a pool of one GPU may not choose, stays as it is in @options: devices, outputs,
     * priorities and host_threads. Throws Error, saying what would do, if one is set, or as Core does.
     */
    static SlotDevice &make(device::Device &gpu, Options options, std::vector<Core::Kind> kinds);

    /* Tasks of that kind, whose parameters these are; other members of the struct are 0. Throws Error. */
    virtual std::unique_ptr<device::Code> code(unsigned kind, std::vector<Member> parameters) = 0;
    /*
     * For good: nothing is begun any more, and who waits for what was given gets an Error. Blocks while tasks run, as
     * the destructor of a pool does.
     */
    virtual void stop() = 0;
    virtual State state() const = 0;

protected:
    SlotDevice() = default;
    ~SlotDevice() override = default;
};

/*
 * A device for these types, which are kinds 0, 1 ... of the kernel. With this its pool ends, the kernel leaves the GPU,
 * and what graphs still have for it fails; the device itself, and what knows it, stays.
 */
template <typename... Tasks> class TaskDevice {
    using Types = TaskTypes<Tasks...>;

public:
    TaskDevice(device::Device &gpu, Options options) : device_(SlotDevice::make(gpu, std::move(options), Types::all()))
    {
    }

    ~TaskDevice() { device_.stop(); }
    TaskDevice(const TaskDevice &) = delete;
    TaskDevice &operator=(const TaskDevice &) = delete;

    SlotDevice &device() const { return device_; }
    /* What DeviceKernel::make is to be: the parameters are these members of one type, in the order of the ports. */
    template <auto First, auto... Others> std::function<std::unique_ptr<device::Code>(device::Device &)> kernel() const
    {
        static_assert((... && std::is_same_v<decltype(type_of(First)), decltype(type_of(Others))>),
                      "the parameters are members of one type of task");
        return [&device = device_](device::Device &) {
            return device.code(kind_of_member(First), {member_of(First), member_of(Others)...});
        };
    }

private:
    template <typename Task, typename Value> static constexpr unsigned kind_of_member(Value Task::*)
    {
        return Types::template kind<Task>();
    }

    template <typename Task, typename Value> static Task type_of(Value Task::*);

    SlotDevice &device_;
};

} // namespace ptsched::pool

#pragma GCC visibility pop

#endif /* PTSCHED_POOL_DEVICE_HPP */
