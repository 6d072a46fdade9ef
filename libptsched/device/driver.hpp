/* SPDX-License-Identifier: MIT */
/* The functions of the CUDA driver that devices use, found when the first is asked for: there need not be a driver. */
#ifndef PTSCHED_DEVICE_DRIVER_HPP
#define PTSCHED_DEVICE_DRIVER_HPP

#include "device.hpp"

#include "cuda_abi.h"

namespace ptsched::device {

struct Driver {
    CUresult (*error_name)(CUresult, const char **);
    CUresult (*device_count)(int *);
    CUresult (*device_get)(CUdevice *, int);
    CUresult (*device_name)(char *, int, CUdevice);
    CUresult (*context_retain)(CUcontext *, CUdevice);
    CUresult (*context_set)(CUcontext);
    CUresult (*host_alloc)(void **, std::size_t, unsigned);
    CUresult (*host_free)(void *);
    CUresult (*mem_alloc)(CUdeviceptr *, std::size_t);
    CUresult (*mem_free)(CUdeviceptr);
    CUresult (*upload)(CUdeviceptr, const void *, std::size_t, CUstream);
    CUresult (*download)(void *, CUdeviceptr, std::size_t, CUstream);
    CUresult (*module_load)(CUmodule *, const char *);
    CUresult (*module_unload)(CUmodule);
    CUresult (*module_function)(CUfunction *, CUmodule, const char *);
    CUresult (*launch)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream,
                       void **, void **);
    CUresult (*stream_create)(CUstream *, unsigned);
    CUresult (*stream_destroy)(CUstream);
    CUresult (*stream_wait)(CUstream, CUevent, unsigned);
    CUresult (*stream_synchronize)(CUstream);
    CUresult (*event_create)(CUevent *, unsigned);
    CUresult (*event_destroy)(CUevent);
    CUresult (*event_record)(CUevent, CUstream);
    CUresult (*event_query)(CUevent);
    CUresult (*event_synchronize)(CUevent);

    /* Null if there is no driver or it does not start. */
    static const Driver *get();
    /* "cuX: CUDA_ERROR_Y"; @doing says what for. */
    [[noreturn]] void fail(CUresult error, const std::string &doing) const;
    void check(CUresult error, const char *doing) const
    {
        if (error != CUDA_SUCCESS)
            fail(error, doing);
    }
};

/* Memory of the host that every GPU copies from and to without a detour; there is a GPU. */
void *allocate_pinned(std::size_t bytes);
void release_pinned(void *memory);

} // namespace ptsched::device

#endif /* PTSCHED_DEVICE_DRIVER_HPP */
