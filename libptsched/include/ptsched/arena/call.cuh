/* SPDX-License-Identifier: MIT */
/*
 * The device's side of remote calls (call.hpp): functions that the host calls, and functions of the host that kernels
 * call. For nvcc, NVRTC and the virtual GPU; C++20.
 *
 *	__device__ double dot(const ptsched::arena::Here &here, const double *x, const double *y, unsigned n)
 *	{
 *		...
 *		ptsched::arena::log(here, "%u elements\n", n);
 *	}
 *	__device__ void twice(double *x) { if (threadIdx.x == 0) *x *= 2; }
 *
 *	PTSCHED_ARENA_FUNCTIONS(kernels, dot, twice)
 *	extern "C" __global__ void kernels(ptsched::pool::Slots slots) { kernels_functions::serve(slots); }
 *	extern "C" __global__ void kernels_spread(ptsched::arena::SpreadCall call) { kernels_functions::spread(call); }
 *
 * The macro says which functions there are, by the names that the host uses. The first kernel stays on the GPU and has
 * their calls in its slots (pool.cuh); the second, which need not be there, is launched for calls that are spread over
 * many blocks. All threads of a block call the function, with the same arguments; what thread 0, of block 0, returns is
 * what the caller gets. A function may have a Here before its arguments, which signatures do not mention.
 *
 * A call of the host is a release and an acquire, as that of a kernel's function by the host is: each side sees what
 * the other had written before. Any thread may make one. While it waits, its block does nothing else.
 */
#ifndef PTSCHED_ARENA_CALL_CUH
#define PTSCHED_ARENA_CALL_CUH

#include <ptsched/arena/call/slots.h>
#include <ptsched/pool.cuh>

/* NVRTC knows it by its plain name alone. */
#ifdef __CUDACC_RTC__
#define PTSCHED_ARENA_COPY memcpy
#else
#define PTSCHED_ARENA_COPY __builtin_memcpy
#endif
/* Kernels need fewer registers where it is not part of each function that uses it. */
#ifdef VGPU
#define PTSCHED_ARENA_APART inline
#else
#define PTSCHED_ARENA_APART __noinline__ inline
#endif

namespace ptsched::arena {

using SpreadCall = detail::Spread;

/* What a call of the host comes to. Without a value if it is not done. */
template <typename R> struct Reply {
    Status status;
    R value{};
    __device__ explicit operator bool() const { return status == Status::done; }
};
template <> struct Reply<void> {
    Status status;
    __device__ explicit operator bool() const { return status == Status::done; }
};

/* A name as a template's argument: call_host<"price", double(int)>(here, 3). */
template <unsigned int N> struct Name {
    static_assert(N <= detail::most_name_bytes, "names have at most 63 characters");
    char text[N] = {};
    PTSCHED_ARENA_CALL_BOTH constexpr Name(const char (&from)[N])
    {
        for (unsigned int i = 0; i < N; i++)
            text[i] = from[i];
    }
};

struct Here;

namespace detail {

__device__ inline void copy_bytes(void *to, const void *from, unsigned int bytes)
{
    PTSCHED_ARENA_COPY(to, from, bytes);
}

/* Calls one of the functions of a table with the arguments at @from; what it returns goes to @to. */
using Dispatch = void (*)(unsigned int number, const Here &here, const unsigned char *from, void *to);

} // namespace detail

/* Whom a function works for: to be passed on, as it is, to what is called from there. */
struct Here {
    const detail::Channel *channel;
    detail::Dispatch dispatch;
    unsigned int record;
    unsigned int block, blocks; /* that have this call */

    /* The calling thread, of all that have the call. */
    __device__ unsigned int rank() const { return block * blockDim.x + threadIdx.x; }
    __device__ unsigned int size() const { return blocks * blockDim.x; }
};

/* In a kernel that the program launches itself, with what Calls::line() returns for a parameter. */
__device__ inline Here here_of(const Line &line)
{
    return {line.channel, nullptr, detail::no_record, blockIdx.x, gridDim.x};
}

namespace detail {

/*
 * So many looks at an answer before a nap between them, in nanoseconds, which gets twice as long a few times: what
 * thousands of threads look at across the bus, nothing else can use.
 */
constexpr unsigned int prompt_looks = 64, answer_nap = 300, naps_of_a_length = 16, most_doublings = 5;

__device__ inline void rest_after(unsigned int looks)
{
    if (looks < prompt_looks)
        return;
    const unsigned int doublings = (looks - prompt_looks) / naps_of_a_length;
    __nanosleep(answer_nap << (doublings < most_doublings ? doublings : most_doublings));
}

template <unsigned int Value> struct Constant {
    static constexpr unsigned int value = Value;
};

/*
 * One call to the host. All that it waits for is one loop, so that no thread of a warp is kept by another one that
 * waits for it: a slot is its next owner's when the last one has its answer.
 */
__device__ PTSCHED_ARENA_APART void exchange(const Channel &channel, const unsigned int *request, unsigned int pieces,
                                             unsigned int *answer, unsigned int wanted)
{
    const unsigned int ticket = atomicAdd(channel.next_ticket, 1u), slot = ticket & (channel.slots - 1),
                       tag = ticket + 1;
    bool has_asked = false;
    for (unsigned int looks = 0, got = 0; got < wanted; looks++) {
        rest_after(looks);
        if (!has_asked) {
            if (pool::detail::load(channel.turns + slot) != ticket)
                continue;
            pool::detail::fence();
            for (unsigned int i = 0; i < pieces; i++)
                pool::detail::store_piece(channel.requests + slot * request_pieces + i,
                                          {{request[i * 3], request[i * 3 + 1], request[i * 3 + 2]}, tag});
            has_asked = true;
        }
        const pool::Piece piece = pool::detail::load_piece(channel.answers + slot * answer_pieces + got);
        if (piece.tag != tag)
            continue;
        for (unsigned int i = 0; i < 3; i++)
            answer[got * 3 + i] = piece.words[i];
        /* What has failed has no result. */
        got = answer[0] != static_cast<unsigned int>(Status::done) ? wanted : got + 1;
        if (got == wanted)
            pool::detail::store_release(channel.turns + slot, ticket + channel.slots);
    }
}

template <typename R> __device__ Reply<R> reply_of(const unsigned int *answer)
{
    Reply<R> reply{static_cast<Status>(answer[0])};
    if constexpr (SizeOf<R>::value)
        if (reply.status == Status::done)
            copy_bytes(&reply.value, answer + 1, sizeof(R));
    return reply;
}

template <typename Signature> struct Asker;
template <typename R, typename... Args> struct Asker<R(Args...)> {
    using Its = Traits<R(Args...)>;
    static_assert(Its::argument_bytes <= most_request_bytes, "a call of the host has at most 256 bytes of arguments");
    static_assert(Its::result_bytes <= most_answer_bytes, "a call of the host returns at most 128 bytes");

    template <unsigned int... I>
    __device__ static void pack([[maybe_unused]] unsigned char *to, Indices<I...>, const Args &...arguments)
    {
        (copy_bytes(to + Constant<Its::layout.offsets[I]>::value, &arguments, sizeof(Args)), ...);
    }

    __device__ static Reply<R> ask(const Here &here, unsigned int number, unsigned long long key, Args... arguments)
    {
        constexpr unsigned int pieces = pool::pieces_of(sizeof(Request) + Its::argument_bytes),
                               wanted = pool::pieces_of(sizeof(Status) + Its::result_bytes);
        alignas(most_alignment) unsigned int request[pieces * 3 + sizeof(Request) / 4] = {};
        unsigned int answer[wanted * 3];
        const Request head{key, number, here.record};
        copy_bytes(request, &head, sizeof(head));
        pack(reinterpret_cast<unsigned char *>(request) + sizeof(head), IndicesFor<Args...>(), arguments...);
        exchange(*here.channel, request, pieces, answer, wanted);
        return reply_of<R>(answer);
    }

    /* The host is told what it was called by, and says what is wrong with it. */
    __device__ static Status complain(const Here &here, const Complaint &about)
    {
        return Asker<void(Complaint)>::ask(here, complaint, 0, about).status;
    }
};

template <unsigned int N> __device__ inline void copy_text(char *to, const char (&from)[N])
{
    for (unsigned int i = 0; i < N; i++)
        to[i] = from[i];
}

/* A function of the device: its signature without a Here, and how it is called with arguments in memory. */
template <typename Function> struct Callee;
template <typename R, typename... Args> struct Callee<R (*)(Args...)> {
    using Signature = R(Args...);
    using Result = R;
    using Its = Traits<Signature>;

    template <auto Function, unsigned int... I>
    __device__ static R call(const Here &, [[maybe_unused]] const unsigned char *from, Indices<I...>)
    {
        return Function(*reinterpret_cast<const Args *>(from + Constant<Its::layout.offsets[I]>::value)...);
    }
    template <auto Function> __device__ static R call(const Here &here, const unsigned char *from)
    {
        return call<Function>(here, from, IndicesFor<Args...>());
    }
};
template <typename R, typename... Args> struct Callee<R (*)(const Here &, Args...)> {
    using Signature = R(Args...);
    using Result = R;
    using Its = Traits<Signature>;

    template <auto Function, unsigned int... I>
    __device__ static R call(const Here &here, [[maybe_unused]] const unsigned char *from, Indices<I...>)
    {
        return Function(here, *reinterpret_cast<const Args *>(from + Constant<Its::layout.offsets[I]>::value)...);
    }
    template <auto Function> __device__ static R call(const Here &here, const unsigned char *from)
    {
        return call<Function>(here, from, IndicesFor<Args...>());
    }
};

template <auto Function> using CalleeOf = Callee<decltype(Function)>;

/* The next of the names that the macro was given, "a, b". */
PTSCHED_ARENA_CALL_BOTH constexpr const char *take_name(const char *from, char *to)
{
    while (*from == ' ' || *from == ',' || *from == '&')
        from++;
    unsigned int length = 0;
    for (; *from && *from != ',' && *from != ' '; from++)
        if (length + 1 < most_name_bytes)
            to[length++] = *from;
    to[length] = 0;
    return from;
}

template <typename Callee> PTSCHED_ARENA_CALL_BOTH constexpr void describe(FunctionText &to)
{
    for (unsigned int i = 0; i < most_signature_bytes; i++)
        to.signature[i] = Callee::Its::text.text[i];
    to.argument_bytes = Callee::Its::argument_bytes;
    to.result_bytes = Callee::Its::result_bytes;
}

} // namespace detail

/* What PTSCHED_ARENA_FUNCTIONS lists. */
template <auto... Functions> struct FunctionTable {
    static constexpr unsigned int count = sizeof...(Functions);
    static_assert(count >= 1 && count <= pool::most_kinds, "1 to 256 functions");

    PTSCHED_ARENA_CALL_BOTH static constexpr detail::Description<count> describe(const char *names)
    {
        detail::Description<count> description{};
        description.head = {detail::description_version, count};
        unsigned int i = 0;
        ((names = detail::take_name(names, description.functions[i].name),
          detail::describe<detail::CalleeOf<Functions>>(description.functions[i]), i++),
         ...);
        return description;
    }

    /* What the kernel that stays does; returns when the host takes it off the device. */
    __device__ static void serve(const pool::Slots &slots) { pool::serve<do_call<Functions>...>(slots); }

    /* What the kernel of a call that is spread does. */
    __device__ static void spread(const SpreadCall &call)
    {
        const Here here{call.header.channel, &dispatch, call.header.record, blockIdx.x, gridDim.x};
        const unsigned char *from = call.header.is_beside ? beside(call.room) : call.room;
        unsigned int i = 0;
        (void)(... || (i++ == call.number && (do_spread<Functions>(call, here, from), true)));
    }

private:
    __device__ static unsigned char *beside(const unsigned char *room)
    {
        return *reinterpret_cast<unsigned char *const *>(room);
    }

    template <auto Function> __device__ static void do_call(detail::Slot &slot, const pool::Block &)
    {
        using Callee = detail::CalleeOf<Function>;
        using Result = typename Callee::Result;
        const Here here{slot.header.channel, &dispatch, slot.header.record, 0, 1};
        unsigned char *place = slot.header.is_beside ? beside(slot.room) : slot.room;
        if constexpr (detail::SizeOf<Result>::value) {
            const Result result = Callee::template call<Function>(here, place);
            /* All have their arguments, which it takes the place of. */
            __syncthreads();
            if (threadIdx.x == 0)
                *reinterpret_cast<Result *>(place) = result;
        } else {
            Callee::template call<Function>(here, place);
        }
    }

    template <auto Function>
    __device__ static void do_spread(const SpreadCall &call, const Here &here, const unsigned char *from)
    {
        using Callee = detail::CalleeOf<Function>;
        using Result = typename Callee::Result;
        if constexpr (detail::SizeOf<Result>::value) {
            const Result result = Callee::template call<Function>(here, from);
            if (here.rank() == 0)
                *static_cast<Result *>(call.result) = result;
        } else {
            Callee::template call<Function>(here, from);
        }
    }

    template <auto Function>
    __device__ static void do_dispatch(const Here &here, const unsigned char *from, [[maybe_unused]] void *to)
    {
        using Callee = detail::CalleeOf<Function>;
        using Result = typename Callee::Result;
        if constexpr (detail::SizeOf<Result>::value)
            *static_cast<Result *>(to) = Callee::template call<Function>(here, from);
        else
            Callee::template call<Function>(here, from);
    }

    __device__ static void dispatch(unsigned int number, const Here &here, const unsigned char *from, void *to)
    {
        unsigned int i = 0;
        (void)(... || (i++ == number && (do_dispatch<Functions>(here, from, to), true)));
    }
};

/*
 * Once in a file, at namespace scope: the functions of the kernel @table, which the host calls by these names. None is
 * overloaded or a template, and their order is that of their numbers.
 */
#define PTSCHED_ARENA_FUNCTIONS(table, ...)                                                                            \
    using table##_functions = ptsched::arena::FunctionTable<__VA_ARGS__>;                                              \
    extern "C" {                                                                                                       \
    __device__ ptsched::arena::detail::Description<table##_functions::count> table##_names =                           \
        table##_functions::describe(#__VA_ARGS__);                                                                     \
    }                                                                                                                  \
    PTSCHED_ARENA_DESCRIBE(table)

/* Where the driver does not find the variable, which a compiler may keep to its module. */
#ifdef VGPU
#define PTSCHED_ARENA_DESCRIBE(table)
#else
#define PTSCHED_ARENA_DESCRIBE(table)                                                                                  \
    extern "C" __global__ void table##_describe(ptsched::arena::detail::Description<table##_functions::count> *to)     \
    {                                                                                                                  \
        *to = table##_names;                                                                                           \
    }
#endif

namespace detail {

template <typename Signature> struct HostCall;
template <typename R, typename... Args> struct HostCall<R(Args...)> {
    template <Name name> __device__ static Reply<R> by_name(const Here &here, Args... arguments)
    {
        constexpr unsigned long long key = key_of(name.text, Traits<R(Args...)>::text.text);
        Reply<R> reply = Asker<R(Args...)>::ask(here, 0, key, arguments...);
        if (reply.status == Status::no_such_function) {
            Complaint about{};
            constexpr Text signature = Traits<R(Args...)>::text;
            copy_text(about.name, name.text);
            copy_text(about.signature, signature.text);
            reply.status = Asker<void()>::complain(here, about);
        }
        return reply;
    }

    __device__ static Reply<R> by_pointer(const Here &here, unsigned int number, Args... arguments)
    {
        if (number & host_bit) {
            constexpr unsigned long long key = hash(Traits<R(Args...)>::text.text);
            return Asker<R(Args...)>::ask(here, number, key, arguments...);
        }
        if (!number || !here.dispatch)
            return {Status::no_such_function};
        using Its = Traits<R(Args...)>;
        alignas(most_alignment) unsigned char room[Its::argument_bytes + 1];
        Asker<void(Args...)>::pack(room, IndicesFor<Args...>(), arguments...);
        Reply<R> reply{Status::done};
        if constexpr (SizeOf<R>::value)
            here.dispatch(number - 1, here, room, &reply.value);
        else
            here.dispatch(number - 1, here, room, nullptr);
        return reply;
    }
};

__device__ inline void add_value(LogLine &line, LogLine::Kind kind, unsigned long long value)
{
    line.kinds[line.count] = kind;
    line.values[line.count++] = value;
}

/* Integers of all widths, and what is converted to one. */
#define PTSCHED_ARENA_LOGS(type, kind)                                                                                 \
    __device__ inline void add(LogLine &line, type value)                                                              \
    {                                                                                                                  \
        add_value(line, LogLine::kind, static_cast<unsigned long long>(value));                                        \
    }
PTSCHED_ARENA_LOGS(int, whole)
PTSCHED_ARENA_LOGS(long, whole)
PTSCHED_ARENA_LOGS(long long, whole)
PTSCHED_ARENA_LOGS(unsigned int, natural)
PTSCHED_ARENA_LOGS(unsigned long, natural)
PTSCHED_ARENA_LOGS(unsigned long long, natural)
#undef PTSCHED_ARENA_LOGS
__device__ inline void add(LogLine &line, double value)
{
    unsigned long long bits;
    copy_bytes(&bits, &value, sizeof(bits));
    add_value(line, LogLine::real, bits);
}
__device__ inline void add(LogLine &line, const void *value)
{
    add_value(line, LogLine::address, reinterpret_cast<unsigned long long>(value));
}
/* The text would be where the host does not see it: it belongs into the format. */
__device__ void add(LogLine &line, const char *value) = delete;

} // namespace detail

/*
 * Calls a function of the host by its name, with a signature that is its own: call_host<"price", double(int)>(here, 3).
 * Blocks the calling thread until the host has done it. What has no name there, another signature, or throws, is said
 * by the status, and is an error where the host has called this kernel's function.
 */
template <Name name, typename Signature, typename... Given>
__device__ auto call_host(const Here &here, Given... arguments)
{
    return detail::HostCall<Signature>::template by_name<name>(here, arguments...);
}

/*
 * Calls what a pointer leads to: one of the host's as above, by any thread; one of the GPU's at once, by all threads of
 * the block, each of which has what it returns there.
 */
template <typename Signature, typename... Given>
__device__ auto call(const Here &here, RemotePointer<Signature> pointer, Given... arguments)
{
    return detail::HostCall<Signature>::by_pointer(here, pointer.number, arguments...);
}

/* As printf, of up to 8 numbers and addresses, in up to 159 characters; the host formats. There is no %s. */
template <unsigned int N, typename... Values>
__device__ Status log(const Here &here, const char (&format)[N], Values... values)
{
    static_assert(N <= detail::most_format_bytes, "a line's format has at most 159 characters");
    static_assert(sizeof...(Values) <= detail::most_values, "a line has at most 8 values");
    detail::LogLine line{};
    detail::copy_text(line.format, format);
    (detail::add(line, values), ...);
    return call_host<"ptsched.log", void(detail::LogLine)>(here, line).status;
}

/*
 * Reads up to @bytes of a file from @offset on into memory that the host and this GPU have in common. Returns how many
 * there were, or a negative errno.
 */
template <unsigned int N>
__device__ Reply<long> read_file(const Here &here, const char (&path)[N], unsigned long offset, void *to,
                                 unsigned long bytes)
{
    static_assert(N <= detail::most_path_bytes, "a path has at most 207 characters");
    detail::Path copy{};
    detail::copy_text(copy.text, path);
    return call_host<"ptsched.read_file", long(detail::Path, unsigned long, void *, unsigned long)>(here, copy, offset,
                                                                                                    to, bytes);
}

/* Memory of the host's allocator, as Calls' Options say; null if there is no more. */
__device__ inline Reply<void *> allocate(const Here &here, unsigned long bytes, unsigned long alignment = 16)
{
    return call_host<"ptsched.allocate", void *(unsigned long, unsigned long)>(here, bytes, alignment);
}

__device__ inline Status deallocate(const Here &here, void *memory)
{
    return call_host<"ptsched.deallocate", void(void *)>(here, memory).status;
}

} // namespace ptsched::arena

#undef PTSCHED_ARENA_COPY
#undef PTSCHED_ARENA_APART

#endif /* PTSCHED_ARENA_CALL_CUH */
