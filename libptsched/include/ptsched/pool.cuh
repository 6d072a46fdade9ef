/* SPDX-License-Identifier: MIT */
/*
 * The device's side of a pool (pool.hpp): a kernel whose blocks stay, and call functions of the user's for the tasks
 * that they find in their slots. For nvcc, NVRTC and the virtual GPU.
 *
 *	__device__ void square(Square &task, const ptsched::pool::Block &)
 *	{
 *		if (threadIdx.x == 0)
 *			task.value *= task.value;
 *	}
 *	extern "C" __global__ void squares(ptsched::pool::Slots slots)
 *	{
 *		ptsched::pool::serve<square>(slots);
 *	}
 *
 * All threads of the block call the function, with the same task, which is in shared memory: what they write there is
 * what the host gets back. They may use __syncthreads() and shared memory. Blocks are one-dimensional, of a multiple of
 * 32 threads. Of several functions the first is of kind 0 and so on, as the types of tasks are named in Pool<...>.
 *
 * Whoever has a result, on the host or by a task that is pushed then, sees all that its task has written: the block's
 * threads meet after the function, and the fence before the result is cumulative (PTX ISA, memory consistency model,
 * causality order). A task sees likewise what was written before it was pushed.
 */
#ifndef PTSCHED_POOL_CUH
#define PTSCHED_POOL_CUH

#include <ptsched/pool/slots.h>

namespace ptsched::pool {

/* Whom a function works for. */
struct Block {
    unsigned int number; /* of the block on its device */
    unsigned int task;   /* of the tasks that it was given, as errors name it */
};

namespace detail {

constexpr unsigned int lanes = 32;
/* It reads its block's notice while the others read slots. */
constexpr unsigned int notice_lane = lanes - 1;
/* So many looks in vain, each a trip across the bus, until a block goes to the lodge. */
constexpr unsigned int most_looks = 24;
/* Between looks there, in nanoseconds. */
constexpr unsigned int nap = 300;
/* For so many cycles a block does not ask whether it is to leave. */
constexpr long long int patience = 4096;

#ifdef VGPU
inline Piece load_piece(const Piece *from)
{
    Piece piece;
    vgpu::poll();
    __asm__ volatile("movdqa (%1), %%xmm0\n\tmovdqu %%xmm0, (%0)" : : "r"(&piece), "r"(from) : "xmm0", "memory");
    vgpu_has_read(from);
    return piece;
}

inline Piece load_piece_ahead(const Piece *from)
{
    return load_piece(from);
}

inline void store_piece(Piece *to, const Piece &piece)
{
    vgpu_writes(to);
    __asm__ volatile("movdqu (%1), %%xmm0\n\tmovdqa %%xmm0, (%0)" : : "r"(to), "r"(&piece) : "xmm0", "memory");
}

template <typename Word> Word load(const Word *from)
{
    vgpu::poll();
    return __atomic_load_n(from, __ATOMIC_ACQUIRE);
}

template <typename Word> void store(Word *to, Word value)
{
    __atomic_store_n(to, value, __ATOMIC_RELEASE);
}

template <typename Word> void store_release(Word *to, Word value)
{
    __atomic_store_n(to, value, __ATOMIC_RELEASE);
}

inline void fence()
{
    __threadfence_system();
}
#else
__device__ inline Piece make_piece(unsigned long long low, unsigned long long high)
{
    return {{static_cast<unsigned int>(low), static_cast<unsigned int>(low >> 32), static_cast<unsigned int>(high)},
            static_cast<unsigned int>(high >> 32)};
}

/* Scalars of 128 bits are accessed whole (PTX ISA 8.3, for sm_70 and later). */
__device__ inline Piece load_piece(const Piece *from)
{
    unsigned long long low, high;
    asm volatile("{\n\t.reg .b128 whole;\n\t"
                 "ld.acquire.sys.b128 whole, [%2];\n\t"
                 "mov.b128 {%0, %1}, whole;\n\t}"
                 : "=l"(low), "=l"(high)
                 : "l"(from)
                 : "memory");
    return make_piece(low, high);
}

/* Nobody waits for it here, and it does not acquire: a fence must follow before what comes with it is used. */
__device__ inline Piece load_piece_ahead(const Piece *from)
{
    unsigned long long low, high;
    asm volatile("{\n\t.reg .b128 whole;\n\t"
                 "ld.relaxed.sys.b128 whole, [%2];\n\t"
                 "mov.b128 {%0, %1}, whole;\n\t}"
                 : "=l"(low), "=l"(high)
                 : "l"(from)
                 : "memory");
    return make_piece(low, high);
}

__device__ inline void store_piece(Piece *to, const Piece &piece)
{
    const unsigned long long low = piece.words[0] | static_cast<unsigned long long>(piece.words[1]) << 32;
    const unsigned long long high = piece.words[2] | static_cast<unsigned long long>(piece.tag) << 32;
    asm volatile("{\n\t.reg .b128 whole;\n\t"
                 "mov.b128 whole, {%1, %2};\n\t"
                 "st.relaxed.sys.b128 [%0], whole;\n\t}"
                 :
                 : "l"(to), "l"(low), "l"(high)
                 : "memory");
}

__device__ inline unsigned int load(const unsigned int *from)
{
    unsigned int value;
    asm volatile("ld.acquire.sys.u32 %0, [%1];" : "=r"(value) : "l"(from) : "memory");
    return value;
}

__device__ inline unsigned long long load(const unsigned long long *from)
{
    unsigned long long value;
    asm volatile("ld.acquire.sys.u64 %0, [%1];" : "=l"(value) : "l"(from) : "memory");
    return value;
}

__device__ inline void store(unsigned int *to, unsigned int value)
{
    asm volatile("st.relaxed.sys.u32 [%0], %1;" : : "l"(to), "r"(value) : "memory");
}

__device__ inline void store_release(unsigned int *to, unsigned int value)
{
    asm volatile("st.release.sys.u32 [%0], %1;" : : "l"(to), "r"(value) : "memory");
}

__device__ inline void store_release(unsigned long long *to, unsigned long long value)
{
    asm volatile("st.release.sys.u64 [%0], %1;" : : "l"(to), "l"(value) : "memory");
}

/* What __threadfence_system() is besides, sequentially consistent, nobody needs here, and it takes longer. */
__device__ inline void fence()
{
    asm volatile("fence.acq_rel.sys;" : : : "memory");
}
#endif

template <typename Value> __device__ Value from_lane(unsigned int lane, Value value)
{
    return __shfl_sync(0xffffffff, value, static_cast<int>(lane));
}

/* Where the calling thread finds its part of a slot, and what it holds of it. */
class Look {
public:
    __device__ explicit Look(const Slots &slots)
        : slots_(slots), slot_(threadIdx.x / slots.pieces), part_(threadIdx.x % slots.pieces),
          reads_notice_(threadIdx.x == notice_lane)
    {
    }

    /* How many slots can be read at once. */
    __device__ unsigned int width() const
    {
        const unsigned int fit = notice_lane / slots_.pieces;
        return fit < slots_.depth ? fit : slots_.depth;
    }

    /* Reads @width slots from that of task @number on, and the notice. */
    __device__ void at(unsigned int number, unsigned int width)
    {
        if (const Piece *from = find(number, width))
            piece_ = load_piece(from);
    }

    /* The same, but that only who asks for what was read waits for it, and who uses it needs a fence. */
    __device__ void ahead_at(unsigned int number, unsigned int width)
    {
        if (const Piece *from = find(number, width))
            piece_ = load_piece_ahead(from);
    }

    /* How many of these have their tasks, up to the first that has not. */
    __device__ unsigned int ready() const
    {
        const bool there = reads_slot_ && is_of(piece_.tag, number_ + slot_);
        const unsigned int missing = ~__ballot_sync(0xffffffff, there);
        return static_cast<unsigned int>(__ffs(static_cast<int>(missing)) - 1) / slots_.pieces;
    }

    __device__ bool leaves() const { return from_lane(notice_lane, piece_.words[0]) == slots_.run; }

    /* The calling thread's part of the task in slot @slot of these, to be at @words. */
    __device__ void put(unsigned int slot, unsigned int *words, unsigned int &tag) const
    {
        if (!reads_slot_ || slot_ != slot)
            return;
        for (unsigned int i = 0; i < 3; i++)
            words[part_ * 3 + i] = piece_.words[i];
        if (part_ == 0)
            tag = piece_.tag;
    }

    /* The first lanes write a task's result. */
    __device__ void write(unsigned int number, const unsigned int *words, unsigned int tag) const
    {
        if (threadIdx.x < slots_.pieces)
            store_piece(slots_.results + place(number),
                        {{words[part_ * 3], words[part_ * 3 + 1], words[part_ * 3 + 2]}, tag});
    }

    /* The notice as it is now, which nobody waits for before leaves(). */
    __device__ void at_notice()
    {
        if (reads_notice_)
            piece_ = load_piece_ahead(reinterpret_cast<const Piece *>(slots_.notices + blockIdx.x));
    }

private:
    __device__ const Piece *find(unsigned int number, unsigned int width)
    {
        number_ = number;
        reads_slot_ = !reads_notice_ && slot_ < width;
        if (reads_notice_)
            return reinterpret_cast<const Piece *>(slots_.notices + blockIdx.x);
        return reads_slot_ ? slots_.tasks + place(number + slot_) : nullptr;
    }

    __device__ unsigned long long place(unsigned int number) const
    {
        const unsigned long long slot = blockIdx.x * slots_.depth + number % slots_.depth;
        return slot * slots_.pieces + part_;
    }

    const Slots &slots_;
    const unsigned int slot_, part_;
    const bool reads_notice_;
    bool reads_slot_ = false;
    unsigned int number_ = 0;
    Piece piece_{};
};

/*
 * Where an idle block stays until it may have been given something, or is to leave: whichever it is, the bell rings
 * after that. So it looks at its slots once more after it has come.
 */
class Visit {
public:
    __device__ Visit(const Slots &slots, Look &look, unsigned int number)
        : slots_(slots), look_(look), number_(number), heard_(from_lane(0, load(&slots.lodge->heard)))
    {
    }

    __device__ void stay()
    {
        while (!is_called()) {
            if (becomes_porter()) {
                be_porter();
                return;
            }
            __nanosleep(nap);
        }
    }

private:
    /* Whether the bell has rung for this block, or may have. */
    __device__ bool is_called()
    {
        const unsigned long long heard = from_lane(0, load(&slots_.lodge->heard));
        const unsigned int rings = static_cast<unsigned int>(heard) - static_cast<unsigned int>(heard_);
        if (rings == 0)
            return false;
        heard_ = heard;
        return rings > 1 || heard >> 32 == 0 || heard >> 32 == blockIdx.x + 1;
    }

    __device__ bool becomes_porter() const
    {
        bool is = false;
        if (threadIdx.x == 0 && load(&slots_.lodge->porter) == 0)
            is = atomicCAS(&slots_.lodge->porter, 0u, blockIdx.x + 1) == 0;
        return from_lane(0, is);
    }

    /* Until it has something to do itself. */
    __device__ void be_porter()
    {
        unsigned long long told = from_lane(0, load(&slots_.lodge->heard));
        do {
            const unsigned long long bell = from_lane(0, load(slots_.bell));
            look_.at(number_, 1);
            if (bell == told)
                continue;
            told = bell;
            if (threadIdx.x == 0)
                store_release(&slots_.lodge->heard, bell);
        } while (!look_.ready() && !look_.leaves());
        /* The next porter's word is to come after this one's. */
        if (threadIdx.x == 0)
            store_release(&slots_.lodge->porter, 0u);
    }

    const Slots &slots_;
    Look &look_;
    const unsigned int number_;
    unsigned long long heard_;
};

/* What the first warp has for the block's other threads. */
struct Fetched {
    unsigned int ready;
    bool leaves;
    unsigned int tags[lanes];
    alignas(16) unsigned int words[lanes * 4];
};

template <typename Function> struct TaskOf;
template <typename Task> struct TaskOf<void (*)(Task &, const Block &)> {
    using type = Task;
    static_assert(sizeof(Task) >= fewest_bytes && sizeof(Task) <= most_bytes, "tasks have 16 to 256 bytes");
    static_assert(alignof(Task) <= alignof(Piece), "tasks are aligned to at most 16 bytes");
};

/* What only_task names. */
template <auto Function> struct OnlyTask {
    static constexpr bool writes_more = false;
    __device__ static void call(unsigned int *words, const Block &block)
    {
        Function(*reinterpret_cast<typename TaskOf<decltype(Function)>::type *>(words), block);
    }
};

/* Returns whether the function writes more than its task. */
template <auto Function> __device__ bool call(unsigned int *words, const Block &block)
{
    if constexpr (requires { Function.writes_more; }) {
        Function.call(words, block);
        return Function.writes_more;
    } else {
        OnlyTask<Function>::call(words, block);
        return true;
    }
}

/* Calls the one of this kind; whether it writes more than its task. */
template <auto... Functions> __device__ bool call_kind(unsigned int kind, unsigned int *words, const Block &block)
{
    unsigned int i = 0;
    bool writes_more = true;
    (void)(... || (i++ == kind && (writes_more = call<Functions>(words, block), true)));
    return writes_more;
}

/* Of the first warp: gets tasks, and puts results back. */
class Clerk {
public:
    __device__ Clerk(const Slots &slots, Fetched &fetched)
        : slots_(slots), fetched_(fetched), look_(slots), stride_((slots.pieces * 3 + 3) / 4 * 4)
    {
    }

    __device__ unsigned int *words(unsigned int task) const { return fetched_.words + task * stride_; }

    /* Waits for at least one from @number on, or until the block is to leave. */
    __device__ void fetch(unsigned int number)
    {
        if (!ahead_)
            look_.at(number, look_.width());
        unsigned int ready = look_.ready();
        if (ahead_)
            fence();
        /* A result's fence waits for what is being read ahead: it is only read where tasks wait. */
        ahead_ = ready;
        for (unsigned int looks = 0; !ready && !look_.leaves(); ready = look_.ready(), looks++) {
            if (looks < most_looks)
                look_.at(number, 1);
            else
                visit(number);
        }
        const bool leaves = look_.leaves();
        if (threadIdx.x == 0) {
            fetched_.ready = leaves ? 0 : ready;
            fetched_.leaves = leaves;
        }
        for (unsigned int task = 0; task < ready; task++)
            look_.put(task, words(task), fetched_.tags[task]);
        if (ahead_)
            look_.ahead_at(number + ready, look_.width());
        looked_ = clock64();
    }

    /* After the block's threads have met. Nothing is to be begun any more if the block is to leave. */
    __device__ void finish(unsigned int number, unsigned int task, bool writes_more)
    {
        const bool asks = clock64() - looked_ > patience;
        if (asks)
            look_.at_notice();
        if (writes_more)
            fence();
        look_.write(number, words(task), fetched_.tags[task]);
        if (!asks)
            return;
        looked_ = clock64();
        const bool leaves = look_.leaves();
        if (leaves && threadIdx.x == 0)
            fetched_.leaves = true;
    }

private:
    __device__ void visit(unsigned int number)
    {
        Visit visit(slots_, look_, number);
        look_.at(number, 1);
        if (look_.ready() || look_.leaves())
            return;
        visit.stay();
        look_.at(number, 1);
    }

    const Slots &slots_;
    Fetched &fetched_;
    Look look_;
    const unsigned int stride_;
    bool ahead_ = false; /* the next slots have been read */
    long long int looked_ = 0;
};

} // namespace detail

/*
 * For serve<only_task<square>>(): the function writes nothing that anybody else reads but its task, whose result need
 * not wait for other writes then (0.5 us on a Hopper).
 */
template <auto Function> inline constexpr detail::OnlyTask<Function> only_task{};

/* What a pool's kernel does; returns when the pool takes it off the device. */
template <auto... Functions> __device__ void serve(const Slots &slots)
{
    static_assert(sizeof...(Functions) >= 1 && sizeof...(Functions) <= most_kinds, "1 to 256 kinds of task");
    __shared__ detail::Fetched fetched;
    const bool clerks = threadIdx.x < detail::lanes;
    detail::Clerk clerk(slots, fetched);

    if (threadIdx.x == 0)
        detail::store(slots.present + blockIdx.x, slots.run);
    for (unsigned int number = slots.first[blockIdx.x];;) {
        if (clerks)
            clerk.fetch(number);
        __syncthreads();
        const unsigned int ready = fetched.ready;
        for (unsigned int task = 0; task < ready && !fetched.leaves; task++, number++) {
            const bool writes_more =
                detail::call_kind<Functions...>(kind_of(fetched.tags[task]), clerk.words(task), {blockIdx.x, number});
            __syncthreads();
            if (clerks)
                clerk.finish(number, task, writes_more);
            __syncthreads();
        }
        if (fetched.leaves)
            return;
        __syncthreads();
    }
}

} // namespace ptsched::pool

#endif /* PTSCHED_POOL_CUH */
