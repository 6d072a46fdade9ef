/* SPDX-License-Identifier: MIT */
/*
 * Ranges that NVIDIA's tools show by name (NVTX), of libptask's domain "ptask". Without such a tool, or where the CUDA
 * toolkit was not there to build with, there are none.
 */
#ifndef PTSCHED_PTASK_TIME_NVTX_HPP
#define PTSCHED_PTASK_TIME_NVTX_HPP

#include <string>

namespace ptsched::ptask {

/* Tools say so when a program starts: nothing is to be paid for else. */
extern const bool nvtx_wanted;
void nvtx_push(const char *name);
void nvtx_pop();

/* As long as this lives, in its thread. */
class NvtxRange {
public:
    explicit NvtxRange(const std::string &name)
    {
        if (nvtx_wanted)
            nvtx_push(name.c_str());
    }
    ~NvtxRange()
    {
        if (nvtx_wanted)
            nvtx_pop();
    }
    NvtxRange(const NvtxRange &) = delete;
    NvtxRange &operator=(const NvtxRange &) = delete;
};

} // namespace ptsched::ptask

#endif /* PTSCHED_PTASK_TIME_NVTX_HPP */
