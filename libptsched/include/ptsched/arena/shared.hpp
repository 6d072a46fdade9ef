/* SPDX-License-Identifier: MIT */
/*
 * Pointers that mean the same for host and GPUs: they lead into a window, or nowhere. For the host, and for kernels,
 * which do not check.
 */
#ifndef PTSCHED_ARENA_SHARED_HPP
#define PTSCHED_ARENA_SHARED_HPP

#ifdef __CUDACC__
#define PTSCHED_ARENA_BOTH __host__ __device__
#else
#define PTSCHED_ARENA_BOTH
#endif

#if !defined(__CUDA_ARCH__) && !defined(VGPU)
#pragma GCC visibility push(default)
#endif

namespace ptsched::arena {

namespace detail {

/*
 * Throws Error, which names both, if @pointer leads to private memory: to none of the process's windows. @holder: the
 * pointer that is to have it. Thread-safe.
 */
void check_shared(const void *holder, const void *pointer);

} // namespace detail

template <typename Pointer> class shared;

/* As a T *, of the same size, and trivially copied. */
template <typename T> class shared<T *> {
public:
    shared() = default;
    PTSCHED_ARENA_BOTH shared(decltype(nullptr)) : pointer_(nullptr) {}
    /* Throws Error for a pointer to private memory. */
    PTSCHED_ARENA_BOTH shared(T *pointer) { set(pointer); }
    template <typename U>
    requires requires(U *other, T *own) { own = other; }
    PTSCHED_ARENA_BOTH shared(const shared<U *> &other) : pointer_(other.get()) {}
    PTSCHED_ARENA_BOTH shared &operator=(T *pointer)
    {
        set(pointer);
        return *this;
    }
    PTSCHED_ARENA_BOTH shared &operator=(decltype(nullptr))
    {
        pointer_ = nullptr;
        return *this;
    }

    PTSCHED_ARENA_BOTH T *get() const { return pointer_; }
    PTSCHED_ARENA_BOTH operator T *() const { return pointer_; }
    PTSCHED_ARENA_BOTH T *operator->() const { return pointer_; }

private:
    PTSCHED_ARENA_BOTH void set(T *pointer)
    {
#if !defined(__CUDA_ARCH__) && !defined(VGPU)
        detail::check_shared(this, pointer);
#endif
        pointer_ = pointer;
    }

    T *pointer_;
};

} // namespace ptsched::arena

#if !defined(__CUDA_ARCH__) && !defined(VGPU)
#pragma GCC visibility pop
#endif

#endif /* PTSCHED_ARENA_SHARED_HPP */
