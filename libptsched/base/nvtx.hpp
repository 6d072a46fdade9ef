/* SPDX-License-Identifier: MIT */
/*
 * Ranges that NVIDIA's tools show by name (NVTX). Without such a tool, or where the CUDA toolkit was not there to build
 * with, there are none.
 */
#ifndef PTSCHED_BASE_NVTX_HPP
#define PTSCHED_BASE_NVTX_HPP

#include <mutex>

namespace ptsched {

/* Tools say so when a program starts: nothing is to be paid for else. */
extern const bool nvtx_wanted;

/* The ranges of one library, by its name, a literal. Thread-safe. */
class NvtxDomain {
public:
    constexpr explicit NvtxDomain(const char *name) : name_(name) {}
    void push(const char *range);
    void pop();

private:
    [[maybe_unused]] const char *const name_;
    std::once_flag once_;
    void *handle_ = nullptr;
};

/* As long as this lives, in its thread. */
class NvtxRange {
public:
    NvtxRange(NvtxDomain &domain, const char *name) : domain_(domain)
    {
        if (nvtx_wanted)
            domain_.push(name);
    }
    ~NvtxRange()
    {
        if (nvtx_wanted)
            domain_.pop();
    }
    NvtxRange(const NvtxRange &) = delete;
    NvtxRange &operator=(const NvtxRange &) = delete;

private:
    NvtxDomain &domain_;
};

} // namespace ptsched

#endif /* PTSCHED_BASE_NVTX_HPP */
