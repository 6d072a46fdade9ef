/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_PTASK_TIME_NVTX_HPP
#define PTSCHED_PTASK_TIME_NVTX_HPP

#include "libptsched/base/nvtx.hpp"

#include <string>

namespace ptsched::ptask {

inline NvtxDomain nvtx_domain("ptask");

/* Of libptask. */
class NvtxRange : ptsched::NvtxRange {
public:
    explicit NvtxRange(const std::string &name) : ptsched::NvtxRange(nvtx_domain, name.c_str()) {}
};

} // namespace ptsched::ptask

#endif /* PTSCHED_PTASK_TIME_NVTX_HPP */
