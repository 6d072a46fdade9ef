/* SPDX-License-Identifier: MIT */
/*
 * Mutexes and barriers that live in a window, for threads of the host and of kernels that run beside them; made by
 * Arena::make_mutex() and make_barrier(). What they count with is in page-locked memory, and in a GPU's own, neither of
 * which is copied: GPUs need not have atomic operations on the host's memory.
 *
 * They order nothing of an arena's content, which a kernel that runs can neither acquire nor release: they are for
 * memory that both sides reach, and for threads of one side.
 */
#ifndef PTSCHED_ARENA_SYNC_HPP
#define PTSCHED_ARENA_SYNC_HPP

#ifdef __CUDACC__
#define PTSCHED_ARENA_SYNC_BOTH __host__ __device__
#else
#define PTSCHED_ARENA_SYNC_BOTH
#endif

#if !defined(__CUDA_ARCH__) && !defined(VGPU)
#pragma GCC visibility push(default)
#endif

namespace ptsched::arena {

namespace detail {

/* In page-locked memory, on a line of its own. Those that one side writes the other reads. */
struct alignas(128) HostWords {
    unsigned int host_lock; /* among threads of the host */
    unsigned int host_wants, gpu_wants, turn;
    unsigned int host_arrived, host_generation, gpu_generation;
};

/* In a GPU's memory. */
struct GpuWords {
    unsigned int lock;    /* among threads of GPUs */
    unsigned int arrived; /* threads of GPUs */
};

constexpr unsigned int turn_of_host = 0, turn_of_gpus = 1;

/* Where they are never changes, so that both memories of an address may have it. */
struct Words {
    HostWords *host;
    GpuWords *gpu; /* null without a GPU */
};

} // namespace detail

/*
 * One thread has it, of one side or the other. Whoever waits sleeps in between. Not recursive; the thread that has it
 * gives it back. Kernels: lock() and unlock() of arena.cuh.
 */
class Mutex {
public:
    explicit Mutex(const detail::Words &words) : words_(words) {}
    Mutex(const Mutex &) = delete;
    Mutex &operator=(const Mutex &) = delete;

    /* As std::mutex: std::lock_guard lock(*mutex). */
    void lock();
    bool try_lock();
    void unlock();

    PTSCHED_ARENA_SYNC_BOTH const detail::Words &words() const { return words_; }

private:
    const detail::Words words_;
};

/* So many threads of each side wait for each other, again and again. Kernels: arrive_and_wait() of arena.cuh. */
class Barrier {
public:
    Barrier(const detail::Words &words, unsigned int host_threads, unsigned int gpu_threads)
        : words_(words), host_threads_(host_threads), gpu_threads_(gpu_threads)
    {
    }
    Barrier(const Barrier &) = delete;
    Barrier &operator=(const Barrier &) = delete;

    /* Blocks until all have come. */
    void arrive_and_wait();

    PTSCHED_ARENA_SYNC_BOTH const detail::Words &words() const { return words_; }
    PTSCHED_ARENA_SYNC_BOTH unsigned int gpu_threads() const { return gpu_threads_; }
    PTSCHED_ARENA_SYNC_BOTH unsigned int host_threads() const { return host_threads_; }

private:
    const detail::Words words_;
    const unsigned int host_threads_, gpu_threads_;
};

} // namespace ptsched::arena

#if !defined(__CUDA_ARCH__) && !defined(VGPU)
#pragma GCC visibility pop
#endif

#endif /* PTSCHED_ARENA_SYNC_HPP */
