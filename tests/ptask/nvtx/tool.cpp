// SPDX-License-Identifier: MIT
/* What NVTX loads in place of a tool: writes the names of ranges to the file that is named in PTASK_NVTX_RANGES. */
#include "libptsched/base/lock.hpp"

#include <cstdio>
#include <cstdlib>
#include <nvtx3/nvToolsExt.h>

namespace {

ptsched::Mutex mutex;
int depth PTSCHED_GUARDED_BY(mutex);

FILE *file()
{
    static FILE *const only = std::fopen(std::getenv("PTASK_NVTX_RANGES"), "w");
    return only;
}

int push(nvtxDomainHandle_t, const nvtxEventAttributes_t *range)
{
    ptsched::Guard guard(mutex);
    std::fprintf(file(), "%s\n", range->message.ascii);
    std::fflush(file());
    return depth++;
}

int pop(nvtxDomainHandle_t)
{
    ptsched::Guard guard(mutex);
    std::fprintf(file(), "end\n");
    std::fflush(file());
    return --depth;
}

} // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get)
{
    const auto *callbacks = static_cast<const NvtxExportTableCallbacks *>(get(NVTX_ETID_CALLBACKS));
    NvtxFunctionTable table = nullptr;
    unsigned size = 0;
    if (!callbacks || !callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size))
        return 0;
    *table[NVTX_CBID_CORE2_DomainRangePushEx] = reinterpret_cast<NvtxFunctionPointer>(push);
    *table[NVTX_CBID_CORE2_DomainRangePop] = reinterpret_cast<NvtxFunctionPointer>(pop);
    return 1;
}
