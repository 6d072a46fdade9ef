// SPDX-License-Identifier: MIT
#include "libptsched/ptask/time/nvtx.hpp"

#ifdef PTSCHED_NVTX
#include <cstdlib>
#include <nvtx3/nvToolsExt.h>
#endif

namespace ptsched::ptask {

#ifdef PTSCHED_NVTX

const bool nvtx_wanted = std::getenv("NVTX_INJECTION64_PATH") != nullptr;

namespace {

nvtxDomainHandle_t domain()
{
    static nvtxDomainHandle_t const only = nvtxDomainCreateA("ptask");
    return only;
}

} // namespace

void nvtx_push(const char *name)
{
    nvtxEventAttributes_t range{};
    range.version = NVTX_VERSION;
    range.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    range.messageType = NVTX_MESSAGE_TYPE_ASCII;
    range.message.ascii = name;
    nvtxDomainRangePushEx(domain(), &range);
}

void nvtx_pop()
{
    nvtxDomainRangePop(domain());
}

#else

const bool nvtx_wanted = false;

void nvtx_push(const char *) {}

void nvtx_pop() {}

#endif

} // namespace ptsched::ptask
