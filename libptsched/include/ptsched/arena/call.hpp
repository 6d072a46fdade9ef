/* SPDX-License-Identifier: MIT */
/*
 * Functions called across: the host calls those of a GPU, and these call the host's, by their names. A call to the GPU
 * costs a slot of a kernel that stays there (pool.hpp), and no launch.
 *
 *	double price(int item) { ... }
 *	PTSCHED_ARENA_HOST_FUNCTION(price);
 *
 *	Calls calls({.kernel = [](auto &gpu, auto &name) { return device::cuda_code(gpu, "kernels.cubin", name); }});
 *	const auto dot = calls.function<double(const double *, const double *, unsigned)>("dot");
 *	double sum = dot(x, y, 1000);
 *	Call<double> call = dot.start(x, y, 1000);
 *	...
 *	sum = call.get();
 *
 * The GPU's functions are written with call.cuh, which lists them. A call is a release and an acquire: the function
 * sees all that was written before it was called, and who has its result sees all that it has written.
 *
 * Arguments and results are copied byte by byte. A pointer is the same address on the other side: it is to lie in
 * memory that both reach, as a window of arenas does.
 */
#ifndef PTSCHED_ARENA_CALL_HPP
#define PTSCHED_ARENA_CALL_HPP

#include <ptsched/arena/call/slots.h>
#include <ptsched/arena/side.hpp>
#include <ptsched/device/device.hpp>
#include <ptsched/device/turns.hpp>

#include <array>
#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace ptsched::arena::detail {

struct Target; /* a function of the GPU, and how it runs */
struct Record; /* of a call */

} // namespace ptsched::arena::detail

#pragma GCC visibility push(default)

namespace ptsched::arena {

using device::Attach;
using device::Error;

/* A call that has failed: a function of the host that it called has thrown, or the device has failed. */
class CallFailure : public Error {
public:
    using Error::Error;
};

/*
 * What a window of memory has to do with calls. All may be empty; they are called by any thread. Pointers: those among
 * the arguments.
 */
struct CallHooks {
    /* Whether both sides reach it. What is not, and not null, is refused as an argument or a result. */
    std::function<bool(const void *)> contains;
    /*
     * Before the called side begins, and after it has ended and before the caller goes on. A GPU by its place in
     * CallOptions::devices.
     */
    std::function<void(Side callee, std::span<const void *const> pointers)> before_call, after_call;
    /* For allocate() and deallocate() of call.cuh. Allocating returns null, or throws, if there is no more. */
    std::function<void *(std::size_t bytes, std::size_t alignment)> allocate;
    std::function<void(void *)> deallocate;
};

class Arena;
class Window;

/*
 * So that a call is a release of who calls and an acquire of who is called, and its end the other way round, of all
 * arenas of @window that are shared. Those that a pointer among the arguments leads into become so if the other side
 * owns them. allocate() of kernels has blocks of @heap; without one, none. Both outlive the calls.
 */
CallHooks hooks_of(Window &window, Arena *heap = nullptr);

struct CallOptions {
    /* A kernel of the file that has the functions: kernels that are asked for are @table, and @table + "_spread". */
    std::function<std::unique_ptr<device::Code>(device::Device &, const std::string &name)> kernel;
    std::string table = "kernels"; /* as PTSCHED_ARENA_FUNCTIONS calls it */
    /* Empty: the first of gpus(). */
    std::vector<device::Device *> devices = {};
    unsigned threads = 128;     /* of the block that runs a call: a multiple of 32 */
    unsigned shared_bytes = 0;  /* dynamic shared memory of a block */
    unsigned blocks = 0;        /* so many calls run at once on each device; 0: as Options::blocks of pools */
    unsigned slot_bytes = 64;   /* arguments that need more than that less 16 lie beside the slot; 32 to 256 */
    unsigned line_slots = 1024; /* calls of the host that a device may have begun at once: a power of two */
    unsigned host_threads = 16; /* for functions of the host that wait, see may_wait */
    Attach attach = Attach::no; /* each device by turns */
    /* After so long without a call the kernel leaves the device. */
    std::chrono::nanoseconds idle = std::chrono::milliseconds(50);
    /* For so long the destructor waits for a call that has begun. */
    std::chrono::nanoseconds patience = std::chrono::seconds(5);
    CallHooks hooks = {};
    /* Gets what kernels log(), by any thread; empty: it goes to standard output. */
    std::function<void(const std::string &)> log = {};
};

/* Where and how a function runs. */
struct Run {
    unsigned gpu = 0; /* by its place in CallOptions::devices */
    /*
     * 0: one block, in a slot. Else the call is spread over so many, of @threads, as an ordinary launch: for what
     * computes much. Calls that are spread on one device run one after another.
     */
    unsigned blocks = 0;
    unsigned threads = 256, shared_bytes = 0;
    bool cooperative = false; /* all blocks are there at once, and may wait for each other */
    bool operator==(const Run &) const = default;
};

/* Whether a function of the host may wait for long, as for a file: others of its kind are served meanwhile. */
enum class Waits { no, may_wait };
inline constexpr Waits may_wait = Waits::may_wait;

namespace detail {

/* Where a pointer is among the arguments: in bytes, and by its number from 1 on. */
struct PointerAt {
    unsigned offset, argument;
};

/* A signature, for what has no types. */
struct SignatureOf {
    std::string_view text;
    unsigned argument_bytes, result_bytes;
    std::span<const PointerAt> pointers;
    bool returns_pointer;
};

template <typename Signature> struct HostSignature;
template <typename R, typename... Args> struct HostSignature<R(Args...)> {
    using Its = Traits<R(Args...)>;
    static constexpr unsigned count = (0U + ... + is_pointer<Args>);
    static constexpr auto pointers = [] {
        std::array<PointerAt, count> found{};
        [[maybe_unused]] unsigned i = 0, at = 0;
        ((is_pointer<Args> ? void(found[at++] = {Its::layout.offsets[i], i + 1}) : void(), i++), ...);
        return found;
    }();
    static SignatureOf make()
    {
        return {{Its::text.text, Its::text.length}, Its::argument_bytes, Its::result_bytes, pointers, is_pointer<R>};
    }

    /* Arguments as they lie in a slot. */
    struct alignas(most_alignment) Packed {
        std::byte bytes[Its::argument_bytes + 1];
    };
    static Packed pack(const Args &...arguments)
    {
        Packed packed;
        packed.bytes[Its::argument_bytes] = {};
        [[maybe_unused]] unsigned i = 0;
        (std::memcpy(packed.bytes + Its::layout.offsets[i++], &arguments, sizeof(Args)), ...);
        return packed;
    }

    template <typename Function, std::size_t... I>
    static void invoke(const Function &function, const std::byte *from, std::byte *to, std::index_sequence<I...>)
    {
        const auto argument = [&]<typename T>(std::type_identity<T>, unsigned at) {
            alignas(T) std::byte room[sizeof(T)];
            std::memcpy(room, from + at, sizeof(T));
            return *reinterpret_cast<T *>(room);
        };
        if constexpr (std::is_void_v<R>) {
            function(argument(std::type_identity<Args>(), Its::layout.offsets[I])...);
        } else {
            const R result = function(argument(std::type_identity<Args>(), Its::layout.offsets[I])...);
            std::memcpy(to, &result, sizeof(R));
        }
    }
};

/* With arguments as they lie in a slot. */
using Invoke = std::function<void(const std::byte *arguments, std::byte *result)>;

template <typename Signature, typename Function> Invoke make_invoke(Function function)
{
    return [function = std::move(function)](const std::byte *from, std::byte *to) {
        [&]<typename R, typename... Args>(std::type_identity<R(Args...)>) {
            HostSignature<R(Args...)>::invoke(function, from, to, std::index_sequence_for<Args...>());
        }(std::type_identity<Signature>());
    };
}

/* A function of the host, for all Calls that are made while it lives. */
class Registration {
public:
    Registration(const char *name, const SignatureOf &signature, Invoke invoke, Waits waits);
    ~Registration();
    Registration(const Registration &) = delete;
    Registration &operator=(const Registration &) = delete;
};

template <typename R, typename... Args>
Registration register_function(const char *name, R (*function)(Args...), Waits waits = Waits::no)
{
    return Registration(name, HostSignature<R(Args...)>::make(), make_invoke<R(Args...)>(function), waits);
}

/* Calls without their types. */
class CallCore {
public:
    static std::unique_ptr<CallCore> make(CallOptions options);
    virtual ~CallCore();
    CallCore(const CallCore &) = delete;
    CallCore &operator=(const CallCore &) = delete;

    using Duration = std::chrono::nanoseconds;
    static constexpr Duration for_ever = Duration::max();

    virtual const Target &find(const std::string &name, const SignatureOf &signature, const Run &how) = 0;
    virtual unsigned number(const std::string &name, const SignatureOf &signature) = 0;
    virtual const Target &at(unsigned number, const SignatureOf &signature, const Run &how) = 0;
    virtual void add(const std::string &name, const SignatureOf &signature, Invoke invoke, Waits waits) = 0;
    /* Of the host, by its number. */
    virtual void call_here(unsigned number, const SignatureOf &signature, const std::byte *arguments,
                           std::byte *result) = 0;

    /* Waits. Where that would never end, it is not begun. */
    virtual void run(const Target &target, const std::byte *arguments, std::byte *result) = 0;
    virtual Record &start(const Target &target, const std::byte *arguments) = 0;
    /* False if it takes longer. */
    virtual bool await(Record &record, Duration most) = 0;
    /* Waits, and the record is gone, also where it throws. */
    virtual void finish(Record &record, std::byte *result) = 0;
    /* Nobody waits for it any more. */
    virtual void drop(Record &record) noexcept = 0;

    virtual Line line(unsigned gpu) = 0;
    virtual void listen(bool yes) = 0;
    virtual void check() = 0;

protected:
    CallCore() = default;
};

} // namespace detail

/*
 * At namespace scope of a source file, after the function: kernels may call it by this name. A second argument may be
 * ptsched::arena::may_wait. It may be called by several threads at once, and what it throws is thrown, nested in a
 * CallFailure, by the call of the kernel's function from which it was called.
 */
#define PTSCHED_ARENA_HOST_FUNCTION(function, ...) PTSCHED_ARENA_REGISTER(__COUNTER__, function, __VA_ARGS__)
#define PTSCHED_ARENA_REGISTER(number, function, ...) PTSCHED_ARENA_REGISTER_AS(number, function, __VA_ARGS__)
#define PTSCHED_ARENA_REGISTER_AS(number, function, ...)                                                               \
    static const ptsched::arena::detail::Registration ptsched_arena_registration_##number =                            \
        ptsched::arena::detail::register_function(#function, &function __VA_OPT__(, ) __VA_ARGS__)

/* A call that was started. Movable; one thread at a time. */
template <typename R> class Call {
public:
    Call() = default;
    Call(detail::CallCore &core, detail::Record &record) : core_(&core), record_(&record) {}
    Call(Call &&other) noexcept : core_(other.core_), record_(std::exchange(other.record_, nullptr)) {}
    Call &operator=(Call &&other) noexcept
    {
        std::swap(core_, other.core_);
        std::swap(record_, other.record_);
        return *this;
    }
    /* Without get(), the call goes on, and nobody learns what has come of it. */
    ~Call()
    {
        if (record_)
            core_->drop(*record_);
    }

    /* Whether there is a call whose result was not got. */
    bool is_valid() const { return record_; }
    /* Whether get() would not block; throws as that where the device has failed. */
    bool ready() const { return wait_for(std::chrono::nanoseconds::zero()); }
    /* Blocks for so long at most; whether get() would not block. */
    bool wait_for(std::chrono::nanoseconds most) const { return core_->await(valid(), most); }
    /* Blocks until it has ended; once. Throws CallFailure. */
    R get()
    {
        detail::Record &record = valid();
        record_ = nullptr;
        if constexpr (std::is_void_v<R>) {
            core_->finish(record, nullptr);
        } else {
            alignas(R) std::byte result[sizeof(R)];
            core_->finish(record, result);
            return *reinterpret_cast<R *>(result);
        }
    }

private:
    detail::Record &valid() const
    {
        if (!record_)
            throw Error("calls: there is no call, or its result was got already: get() is called once");
        return *record_;
    }

    detail::CallCore *core_ = nullptr;
    detail::Record *record_ = nullptr;
};

/* A function of a GPU, as long as its Calls live. Copyable; any threads may use it. */
template <typename Signature> class Remote;
template <typename R, typename... Args> class Remote<R(Args...)> {
public:
    Remote(detail::CallCore &core, const detail::Target &target) : core_(&core), target_(&target) {}

    /* Blocks until it has ended. Throws Error for what cannot be passed, CallFailure for what has failed. */
    R operator()(Args... arguments) const
    {
        const auto packed = detail::HostSignature<R(Args...)>::pack(arguments...);
        if constexpr (std::is_void_v<R>) {
            core_->run(*target_, packed.bytes, nullptr);
        } else {
            alignas(R) std::byte result[sizeof(R)];
            core_->run(*target_, packed.bytes, result);
            return *reinterpret_cast<R *>(result);
        }
    }
    /* Blocks only where many calls wait. Throws Error. */
    Call<R> start(Args... arguments) const
    {
        return {*core_, core_->start(*target_, detail::HostSignature<R(Args...)>::pack(arguments...).bytes)};
    }

private:
    detail::CallCore *core_;
    const detail::Target *target_;
};

/* While one lives, kernels that the program launches itself may call the host, by Calls::line(). */
class Listening {
public:
    explicit Listening(detail::CallCore &core) : core_(&core) { core.listen(true); }
    Listening(Listening &&other) noexcept : core_(std::exchange(other.core_, nullptr)) {}
    Listening &operator=(Listening &&) = delete;
    ~Listening()
    {
        if (core_)
            core_->listen(false);
    }
    /* Throws CallFailure if a function has thrown that such a kernel has called, once for each. */
    void check() { core_->check(); }

private:
    detail::CallCore *core_;
};

/*
 * The functions of a file of kernels, on one or several GPUs, and those of the host that these call: what was
 * registered when this is made, and what add() adds. Any thread may call all of it, but for the destructor.
 */
class Calls {
public:
    /* Throws Error, saying what would do, if options cannot be. Nothing is launched before the first call. */
    explicit Calls(CallOptions options) : core_(detail::CallCore::make(std::move(options))) {}
    /* Waits for calls that have begun, as a pool does. No handle of a call may be used any more. */
    ~Calls() = default;

    /* Throws Error, naming what there is, for a name or a signature that is not the kernel's. */
    template <typename Signature> Remote<Signature> function(const std::string &name, const Run &how = {})
    {
        return {*core_, core_->find(name, detail::HostSignature<Signature>::make(), how)};
    }

    /* A function of the host, of this Calls alone: anything that can be called so. Before kernels call it. */
    template <typename Signature, typename Function>
    void add(const std::string &name, Function function, Waits waits = Waits::no)
    {
        core_->add(name, detail::HostSignature<Signature>::make(), detail::make_invoke<Signature>(std::move(function)),
                   waits);
    }

    /* Of a function of either side, to be passed to the other. Throws likewise. */
    template <typename Signature> RemotePointer<Signature> pointer(const std::string &name)
    {
        return {core_->number(name, detail::HostSignature<Signature>::make())};
    }
    /* Calls what it leads to: here, if it is the host's, else on a GPU. */
    template <typename R, typename... Args, typename... Given>
    R call(RemotePointer<R(Args...)> pointer, Given... arguments)
    {
        using Its = detail::HostSignature<R(Args...)>;
        if (!(pointer.number & detail::host_bit))
            return Remote<R(Args...)>(*core_, core_->at(pointer.number, Its::make(), {}))(arguments...);
        const auto packed = Its::pack(static_cast<Args>(arguments)...);
        if constexpr (std::is_void_v<R>) {
            core_->call_here(pointer.number, Its::make(), packed.bytes, nullptr);
        } else {
            alignas(R) std::byte result[sizeof(R)];
            core_->call_here(pointer.number, Its::make(), packed.bytes, result);
            return *reinterpret_cast<R *>(result);
        }
    }

    /* A parameter for kernels that the program launches itself on that device, see here_of() in call.cuh. */
    Line line(unsigned gpu = 0) { return core_->line(gpu); }
    [[nodiscard]] Listening listen() { return Listening(*core_); }

private:
    const std::unique_ptr<detail::CallCore> core_;
};

} // namespace ptsched::arena

#pragma GCC visibility pop

#endif /* PTSCHED_ARENA_CALL_HPP */
