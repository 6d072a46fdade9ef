// SPDX-License-Identifier: MIT
#include "libptsched/base/nvtx.hpp"

#ifdef PTSCHED_NVTX
#include <cstdlib>
#include <nvtx3/nvToolsExt.h>
#endif

namespace ptsched {

#ifdef PTSCHED_NVTX

const bool nvtx_wanted = std::getenv("NVTX_INJECTION64_PATH") != nullptr;

void NvtxDomain::push(const char *range)
{
    std::call_once(once_, [this] { handle_ = nvtxDomainCreateA(name_); });
    nvtxEventAttributes_t attributes{};
    attributes.version = NVTX_VERSION;
    attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
    attributes.message.ascii = range;
    nvtxDomainRangePushEx(static_cast<nvtxDomainHandle_t>(handle_), &attributes);
}

void NvtxDomain::pop()
{
    nvtxDomainRangePop(static_cast<nvtxDomainHandle_t>(handle_));
}

#else

const bool nvtx_wanted = false;

void NvtxDomain::push(const char *) {}

void NvtxDomain::pop() {}

#endif

} // namespace ptsched
