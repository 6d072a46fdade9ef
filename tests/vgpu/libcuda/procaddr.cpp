// SPDX-License-Identifier: MIT
/* Look-up of entry points, and the texts of errors. */
#include "tests/vgpu/libcuda/runtime.h"

#include <cstring>

namespace vgpu {

namespace {

struct Entry {
    const char *base;
    int since;
    void *plain;
    void *per_thread; /* null: it has no stream */
};

template <typename Function> void *address_of(Function *function)
{
    return reinterpret_cast<void *>(function);
}

#define CU_ABI_BASIC_ONLY
#define CU_ABI(symbol, base, since, args) {base, since, address_of(symbol), nullptr},
#define CU_ABI_PTSZ(symbol, base, since, args) {base, since, address_of(symbol), address_of(symbol##_ptsz)},
#define CU_ABI_PTDS(symbol, base, since, args) {base, since, address_of(symbol), address_of(symbol##_ptds)},
const Entry entries[] = {
#include "libptsched/cuda/cuda_abi_list.h"
};

constexpr std::uint64_t known_flags = CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;

/* The newest entry with that name that is not newer than the version. */
CUresult look_up(const char *symbol, void **function, int version, std::uint64_t flags,
                 CUdriverProcAddressQueryResult *status)
{
    const Entry *best = nullptr;
    bool known = false;

    if (!symbol || !function || flags & ~known_flags || flags == known_flags)
        return CUDA_ERROR_INVALID_VALUE;
    *function = nullptr;
    for (const Entry &entry : entries) {
        if (std::strcmp(entry.base, symbol) != 0)
            continue;
        known = true;
        if (entry.since <= version && (!best || entry.since > best->since))
            best = &entry;
    }
    if (status)
        *status = best    ? CU_GET_PROC_ADDRESS_SUCCESS
                  : known ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                          : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    if (!best)
        return CUDA_ERROR_NOT_FOUND;
    bool own = flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM && best->per_thread;
    *function = own ? best->per_thread : best->plain;
    return CUDA_SUCCESS;
}

struct ErrorText {
    CUresult code;
    const char *name;
    const char *text;
};

#define ERROR(code, text)                                                                                              \
    {                                                                                                                  \
        code, #code, text                                                                                              \
    }
const ErrorText error_texts[] = {
    ERROR(CUDA_SUCCESS, "no error"),
    ERROR(CUDA_ERROR_INVALID_VALUE, "invalid argument"),
    ERROR(CUDA_ERROR_OUT_OF_MEMORY, "out of memory"),
    ERROR(CUDA_ERROR_NOT_INITIALIZED, "initialization error"),
    ERROR(CUDA_ERROR_DEINITIALIZED, "driver shutting down"),
    ERROR(CUDA_ERROR_STUB_LIBRARY, "CUDA driver is a stub library"),
    ERROR(CUDA_ERROR_DEVICE_UNAVAILABLE, "CUDA-capable device(s) is/are busy or unavailable"),
    ERROR(CUDA_ERROR_NO_DEVICE, "no CUDA-capable device is detected"),
    ERROR(CUDA_ERROR_INVALID_DEVICE, "invalid device ordinal"),
    ERROR(CUDA_ERROR_INVALID_IMAGE, "device kernel image is invalid"),
    ERROR(CUDA_ERROR_INVALID_CONTEXT, "invalid device context"),
    ERROR(CUDA_ERROR_MAP_FAILED, "mapping of buffer object failed"),
    ERROR(CUDA_ERROR_NO_BINARY_FOR_GPU, "no kernel image is available for execution on the device"),
    ERROR(CUDA_ERROR_FILE_NOT_FOUND, "file not found"),
    ERROR(CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND, "shared object symbol not found"),
    ERROR(CUDA_ERROR_SHARED_OBJECT_INIT_FAILED, "shared object initialization failed"),
    ERROR(CUDA_ERROR_OPERATING_SYSTEM, "OS call failed or operation not supported on this OS"),
    ERROR(CUDA_ERROR_INVALID_HANDLE, "invalid resource handle"),
    ERROR(CUDA_ERROR_ILLEGAL_STATE, "the operation cannot be performed in the present state"),
    ERROR(CUDA_ERROR_NOT_FOUND, "named symbol not found"),
    ERROR(CUDA_ERROR_NOT_READY, "device not ready"),
    ERROR(CUDA_ERROR_ILLEGAL_ADDRESS, "an illegal memory access was encountered"),
    ERROR(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "too many resources requested for launch"),
    ERROR(CUDA_ERROR_LAUNCH_TIMEOUT, "the launch timed out and was terminated"),
    ERROR(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, "peer access is already enabled"),
    ERROR(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, "peer access has not been enabled"),
    ERROR(CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE, "cannot set while device is active in this process"),
    ERROR(CUDA_ERROR_CONTEXT_IS_DESTROYED, "context is destroyed"),
    ERROR(CUDA_ERROR_ASSERT, "device-side assert triggered"),
    ERROR(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, "part or all of the requested memory range is already mapped"),
    ERROR(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, "pointer does not correspond to a registered memory region"),
    ERROR(CUDA_ERROR_HARDWARE_STACK_ERROR, "hardware stack error"),
    ERROR(CUDA_ERROR_ILLEGAL_INSTRUCTION, "an illegal instruction was encountered"),
    ERROR(CUDA_ERROR_MISALIGNED_ADDRESS, "misaligned address"),
    ERROR(CUDA_ERROR_INVALID_ADDRESS_SPACE, "operation not supported on global/shared address space"),
    ERROR(CUDA_ERROR_INVALID_PC, "invalid program counter"),
    ERROR(CUDA_ERROR_LAUNCH_FAILED, "unspecified launch failure"),
    ERROR(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, "too many blocks in cooperative launch"),
    ERROR(CUDA_ERROR_NOT_PERMITTED, "operation not permitted"),
    ERROR(CUDA_ERROR_NOT_SUPPORTED, "operation not supported"),
    ERROR(CUDA_ERROR_SYSTEM_NOT_READY, "system not yet initialized"),
    ERROR(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "operation not permitted when stream is capturing"),
    ERROR(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "operation failed due to a previous error during capture"),
    ERROR(CUDA_ERROR_STREAM_CAPTURE_MERGE, "operation would result in a merge of separate capture sequences"),
    ERROR(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, "capture was not ended in the same stream as it began"),
    ERROR(CUDA_ERROR_STREAM_CAPTURE_UNJOINED, "capturing stream has unjoined work"),
    ERROR(CUDA_ERROR_STREAM_CAPTURE_ISOLATION, "dependency created on uncaptured work in another stream"),
    ERROR(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
          "operation would make the legacy stream depend on a capturing blocking stream"),
    ERROR(CUDA_ERROR_CAPTURED_EVENT, "operation not permitted on an event last recorded in a capturing stream"),
    ERROR(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD,
          "attempt to terminate a thread-local capture sequence from another thread"),
    ERROR(CUDA_ERROR_TIMEOUT, "wait operation timed out"),
    ERROR(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, "the graph update was not performed because it included changes which "
                                                "violated constraints specific to instantiated graph update"),
    ERROR(CUDA_ERROR_UNKNOWN, "unknown error"),
};
#undef ERROR

const ErrorText *find_error(CUresult code)
{
    for (const ErrorText &entry : error_texts)
        if (entry.code == code)
            return &entry;
    return nullptr;
}

} // namespace

} // namespace vgpu

using namespace vgpu;

VGPU_EXPORT CUresult cuGetProcAddress(const char *symbol, void **function, int version, std::uint64_t flags)
{
    return look_up(symbol, function, version, flags, nullptr);
}

VGPU_EXPORT CUresult cuGetProcAddress_v2(const char *symbol, void **function, int version, std::uint64_t flags,
                                         CUdriverProcAddressQueryResult *status)
{
    return look_up(symbol, function, version, flags, status);
}

VGPU_EXPORT CUresult cuGetErrorName(CUresult error, const char **text)
{
    const ErrorText *found = find_error(error);

    if (!text)
        return CUDA_ERROR_INVALID_VALUE;
    *text = found ? found->name : nullptr;
    return found ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

VGPU_EXPORT CUresult cuGetErrorString(CUresult error, const char **text)
{
    const ErrorText *found = find_error(error);

    if (!text)
        return CUDA_ERROR_INVALID_VALUE;
    *text = found ? found->text : nullptr;
    return found ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

VGPU_EXPORT CUresult cuGetExportTable(const void **table, const CUuuid *)
{
    if (table)
        *table = nullptr;
    return CUDA_ERROR_NOT_FOUND;
}
