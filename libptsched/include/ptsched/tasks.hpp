/* SPDX-License-Identifier: MIT */
/*
 * Tasks that say what they read and write: order, overlap, copies and devices follow. After OmpSs-2@CUDA (A. Rodriguez,
 * V. Beltran, "A Unified Memory approach to GPU acceleration on task based programming models").
 *
 *	Runtime tasks;
 *	for (std::size_t k = 0; k < n; k++) {
 *		tasks.cuda(potrf, inout(a(k, k)));
 *		for (std::size_t i = k + 1; i < n; i++)
 *			tasks.cuda(trsm, in(a(k, k)), inout(a(i, k)));
 *		...
 *	}
 *	tasks.wait();
 *
 * A task runs when those before it that it depends on have ended: who reads comes after who has written, and who writes
 * after who has read or written, wherever their ranges have a byte in common. What a task makes are tasks inside it; it
 * ends when these have. Two tasks inside different ones are ordered as those are: what an inner one uses is to be
 * declared by the outer one, too, weakly if it does not use it itself.
 */
#ifndef PTSCHED_TASKS_HPP
#define PTSCHED_TASKS_HPP

#include <ptsched/tasks/core.hpp>

#include <array>
#include <concepts>
#include <functional>
#include <limits>
#include <tuple>

#pragma GCC visibility push(default)

namespace ptsched::tasks {

/* What a function that gives a GPU work has first. */
class Gpu {
public:
    explicit Gpu(const Call &call) : call_(call) {}

    /* Where its work belongs; what is given to other streams must have joined this one when the function returns. */
    CUstream_st *stream() const { return call_.stream; }
    device::Queue &queue() const { return *call_.queue; }
    device::Device &owner() const { return *call_.owner; }
    /* Its number in the driver's order; it is the calling thread's current one. */
    int device() const { return call_.device; }
    /* Where it finds what is at @on_host, which it must have declared; throws Error otherwise. */
    template <typename T> T *at(T *on_host) const
    {
        return static_cast<T *>(find(detail::address(on_host), sizeof(T)));
    }

private:
    friend class Runtime;

    void *find(const std::byte *on_host, std::size_t bytes) const;

    const Call &call_;
};

/*
 * As long as one lives, the task by which it was made does not end, though its function may: for MPI, I/O and other
 * things that end by themselves. It may go by any thread.
 */
class Hold {
public:
    /* For the task that runs; throws Error outside of one. */
    Hold() : task_(Core::take_hold()) {}
    Hold(Hold &&other) noexcept : task_(std::exchange(other.task_, nullptr)) {}
    Hold &operator=(Hold &&other) noexcept
    {
        std::swap(task_, other.task_);
        return *this;
    }
    ~Hold()
    {
        if (task_)
            Core::drop_hold(task_);
    }

private:
    void *task_;
};

/* A kernel, wherever it comes from, for Runtime::kernel(). Its code is made when it first runs on a device. */
class Kernel {
public:
    using Make = std::function<std::unique_ptr<device::Code>(device::Device &)>;
    /* Say, [](auto &gpu) { return device::cuda_code(gpu, "saxpy.cubin", "saxpy"); }. Called by one thread at a time. */
    explicit Kernel(Make make);
    /* Copies share the code. Thread-safe. */
    void run(const Gpu &gpu, const device::Geometry &geometry, const std::vector<void *> &arguments) const;

private:
    class Codes;
    std::shared_ptr<Codes> codes_;
};

/* An array for tasks, in memory as Options::memory or its maker says; it is a contiguous range. */
template <typename T> class Array {
    static_assert(std::is_trivially_copyable_v<T>, "an array has bytes, which are no objects of that type");

public:
    Array() = default;
    Array(std::shared_ptr<Core> core, std::size_t size, Memory memory)
        : core_(std::move(core)), data_(static_cast<T *>(core_->allocate(bytes_of(size), memory))), size_(size)
    {
    }
    Array(Array &&other) noexcept { swap(other); }
    Array &operator=(Array &&other) noexcept
    {
        swap(other);
        return *this;
    }
    /* If a task still uses it, the memory stays until that has ended, and the next wait() throws Error. */
    ~Array()
    {
        if (data_)
            core_->release(data_);
    }

    /*
     * For what tasks only hand on to one another: from now on a wait for all does not bring it to the host when a GPU
     * has written it. One for a range of it does, and tasks of the host find it as ever; other code of the host is to
     * wait so before it touches what tasks have written, or writes what they are to read.
     */
    void keep_on_devices() const
    {
        if (data_)
            core_->keep_on_devices(data_);
    }

    T *data() const { return data_; }
    std::size_t size() const { return size_; }
    T *begin() const { return data_; }
    T *end() const { return data_ + size_; }
    T &operator[](std::size_t i) const { return data_[i]; }

private:
    static std::size_t bytes_of(std::size_t size)
    {
        if (size > std::numeric_limits<std::size_t>::max() / sizeof(T))
            throw device::OutOfMemory("tasks: an array of " + std::to_string(size) + " elements of " +
                                      std::to_string(sizeof(T)) + " bytes is larger than any memory");
        return size * sizeof(T);
    }
    void swap(Array &other) noexcept
    {
        std::swap(core_, other.core_);
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
    }

    std::shared_ptr<Core> core_;
    T *data_ = nullptr;
    std::size_t size_ = 0;
};

namespace detail {

struct Nothing {};

template <typename F, typename... Args> void call(F &function, const Args &...args)
{
    if constexpr (std::invocable<F &, const Args &...>)
        std::invoke(function, args...);
    else
        std::invoke(function);
}

template <typename F, typename... Args> void call_gpu(F &function, Gpu &gpu, const Args &...args)
{
    if constexpr (std::invocable<F &, Gpu &, const Args &...>)
        std::invoke(function, gpu, args...);
    else
        std::invoke(function, gpu);
}

/* A function for the host, one for GPUs, or both, and how what they declare becomes arguments. */
template <typename Host, typename OnGpu, typename... Makers> struct Closure {
    Host host;
    OnGpu gpu;
    std::tuple<Makers...> makers;

    static void move(void *to, void *from) { new (to) Closure(std::move(*static_cast<Closure *>(from))); }
    static void destroy(void *closure) noexcept { static_cast<Closure *>(closure)->~Closure(); }
    static void on_host(void *closure, const Call &call)
    {
        auto &self = *static_cast<Closure *>(closure);
        [&]<std::size_t... i>(std::index_sequence<i...>)
        {
            detail::call(self.host, std::get<i>(self.makers)(call.places[i])...);
        }
        (std::index_sequence_for<Makers...>{});
    }
    static void on_gpu(void *closure, const Call &call)
    {
        auto &self = *static_cast<Closure *>(closure);
        Gpu gpu(call);
        [&]<std::size_t... i>(std::index_sequence<i...>)
        {
            call_gpu(self.gpu, gpu, std::get<i>(self.makers)(call.places[i])...);
        }
        (std::index_sequence_for<Makers...>{});
    }
    static constexpr bool for_host = !std::is_same_v<Host, Nothing>, for_gpu = !std::is_same_v<OnGpu, Nothing>;
    static constexpr Function make_function()
    {
        Function made{sizeof(Closure), alignof(Closure), move, destroy, nullptr, nullptr};
        if constexpr (for_host)
            made.on_host = on_host;
        if constexpr (for_gpu)
            made.on_gpu = on_gpu;
        return made;
    }
    static constexpr Function function = make_function();
};

template <typename T> constexpr bool is_access = std::is_base_of_v<Access, T>;
/* One argument, which has all accesses. */
template <typename... Ts>
constexpr bool is_list = sizeof...(Ts) == 1 && (... && std::convertible_to<const Ts &, std::span<const Access>>);

} // namespace detail

/*
 * All of it may be called by any thread. Tasks are made in an order, which a thread gives by itself: what two threads
 * make at once is ordered somehow.
 */
class Runtime {
public:
    using Duration = Core::Duration;

    /* Throws Error, saying what would do, if the options cannot be. */
    explicit Runtime(Options options = {}) : core_(Core::make(std::move(options))) {}
    /* Waits for all tasks; a failure that nobody has waited for is logged. Arrays may outlive it. */
    ~Runtime()
    {
        /* It does so itself when it goes. */
        if (core_.use_count() > 1)
            core_->wait_at_end();
    }
    Runtime(const Runtime &) = delete;
    Runtime &operator=(const Runtime &) = delete;

    /*
     * A task for the host's threads: the function is called with what is declared, as pointers and tiles in that
     * order, or without arguments if it takes none. Does not block, and copies nothing but the function.
     * Where it is not known before how many accesses there are, one list has all, say std::vector<Access>{in(x)}: then
     * the function takes none of them, here and in what follows but kernel(); on a GPU, Gpu::at() says where they are.
     * On the host it cannot have a reduction.
     */
    template <typename F, typename... Accesses>
    void host(const Attributes &attributes, F function, Accesses... accesses)
    {
        add(attributes, std::move(function), detail::Nothing{}, accesses...);
    }
    template <typename F, typename... Accesses>
    requires(!std::is_same_v<F, Attributes>) void host(F function, Accesses... accesses)
    {
        host(Attributes{}, std::move(function), accesses...);
    }

    /*
     * A task for a GPU: the function gives it work, in the order of a stream, and does not wait. It is called with a
     * Gpu first, and the addresses are those on the GPU.
     */
    template <typename F, typename... Accesses>
    void cuda(const Attributes &attributes, F function, Accesses... accesses)
    {
        add(attributes, detail::Nothing{}, std::move(function), accesses...);
    }
    template <typename F, typename... Accesses>
    requires(!std::is_same_v<F, Attributes>) void cuda(F function, Accesses... accesses)
    {
        cuda(Attributes{}, std::move(function), accesses...);
    }

    /* One of the two, where it is likely to be done first. */
    template <typename Host, typename OnGpu, typename... Accesses>
    void either(const Attributes &attributes, Host host, OnGpu gpu, Accesses... accesses)
    {
        add(attributes, std::move(host), std::move(gpu), accesses...);
    }

    /* A kernel, whose parameters are these in their order: accesses, as addresses or tiles, and values. */
    template <typename... Arguments>
    void kernel(const Attributes &attributes, const Kernel &kernel, const device::Geometry &geometry,
                Arguments... arguments);

    /*
     * Blocks until all tasks have ended, those inside the calling task if it is one; what they have written is on the
     * host. The calling thread runs tasks meanwhile. Throws Failure if one has failed, for each failure once; the ones
     * that depend on it have not run. Throws Error if nothing can go on any more, since tasks wait for each other.
     */
    void wait() { core_->wait(Core::for_ever); }
    /* The same for so long at most; false if some have not ended. */
    bool wait_for(Duration most) { return core_->wait(most); }
    /* For those that use a range alone, say wait(in(x)). */
    template <typename Argument> void wait(const TypedAccess<Argument> &access)
    {
        core_->wait(access.range, Core::for_ever);
    }

    template <typename T> Array<T> array(std::size_t size) { return array<T>(size, core_->options().memory); }
    /* Throws OutOfMemory; Error if a device has no such memory, with what would do. */
    template <typename T> Array<T> array(std::size_t size, Memory memory) { return Array<T>(core_, size, memory); }

    State state() const { return core_->state(); }

private:
    template <typename Host, typename OnGpu, typename... Accesses>
    void add(const Attributes &attributes, Host host, OnGpu gpu, const Accesses &...accesses)
    {
        if constexpr (detail::is_list<Accesses...>) {
            using Closure = detail::Closure<Host, OnGpu>;
            if constexpr (Closure::for_host)
                (Core::check_list(attributes, accesses), ...);
            Closure closure{std::move(host), std::move(gpu), {}};
            core_->add(attributes, Closure::function, &closure, accesses...);
        } else {
            static_assert((... && detail::is_access<Accesses>), "after the function come accesses, say in(x)");
            using Closure = detail::Closure<Host, OnGpu, typename Accesses::Maker...>;
            Closure closure{std::move(host), std::move(gpu), {accesses.maker...}};
            const std::array<Access, sizeof...(Accesses)> all{static_cast<const Access &>(accesses)...};
            core_->add(attributes, Closure::function, &closure, all);
        }
    }

    std::shared_ptr<Core> core_;
};

namespace detail {

template <typename T> auto argument_of(const Call &call, std::size_t &next, const T &argument)
{
    if constexpr (is_access<T>)
        return argument.maker(call.places[next++]);
    else
        return argument;
}

} // namespace detail

template <typename... Arguments>
void Runtime::kernel(const Attributes &attributes, const Kernel &kernel, const device::Geometry &geometry,
                     Arguments... arguments)
{
    static_assert((... && std::is_trivially_copyable_v<Arguments>),
                  "a kernel's arguments are accesses, say in(x), and values whose bytes it is given");
    /* Accesses alone are declared; the closure has all arguments, in their order. */
    const auto declared = std::tuple_cat([](const auto &argument) {
        if constexpr (detail::is_access<std::remove_cvref_t<decltype(argument)>>)
            return std::tuple(argument);
        else
            return std::tuple<>();
    }(arguments)...);
    auto launch = [kernel, geometry, arguments...](Gpu &gpu) {
        std::size_t next = 0;
        std::tuple values{detail::argument_of(gpu.call_, next, arguments)...};
        std::apply([&](auto &...value) { kernel.run(gpu, geometry, {static_cast<void *>(&value)...}); }, values);
    };
    std::apply([&](const auto &...access) { cuda(attributes, std::move(launch), access...); }, declared);
}

} // namespace ptsched::tasks

#pragma GCC visibility pop

#endif /* PTSCHED_TASKS_HPP */
