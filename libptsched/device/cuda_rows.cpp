// SPDX-License-Identifier: MIT
/* Rows of a matrix on the host: in one copy where the driver does it. */
#include "libptsched/device/cuda.hpp"
#include "libptsched/device/rows.hpp"

namespace ptsched::device {

namespace {

/* False: it is to be done row by row, as some may be registered, and others not. */
bool copy_at_once(Device &device, Queue &queue, const CUDA_MEMCPY2D &copy)
{
    auto *gpu = dynamic_cast<CudaDevice *>(&device);
    auto *stream = static_cast<CUstream>(queue.native_stream());
    if (!gpu || !stream || !gpu->driver.copy_rows)
        return false;
    Entered entered(*gpu);
    const CUresult result = gpu->driver.copy_rows(&copy, stream);
    if (result == CUDA_ERROR_INVALID_VALUE)
        return false;
    gpu->driver.check(result, "cuMemcpy2DAsync");
    return true;
}

} // namespace

void upload_rows(Device &device, Queue &queue, Address to, const void *from, const Rows &rows)
{
    CUDA_MEMCPY2D copy{};
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = from;
    copy.srcPitch = rows.pitch;
    copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.dstDevice = to;
    copy.dstPitch = copy.WidthInBytes = rows.bytes;
    copy.Height = rows.count;
    if (copy_at_once(device, queue, copy))
        return;
    for (std::size_t i = 0; i < rows.count; i++)
        queue.upload(to + i * rows.bytes, static_cast<const char *>(from) + i * rows.pitch, rows.bytes);
}

void download_rows(Device &device, Queue &queue, void *to, Address from, const Rows &rows)
{
    CUDA_MEMCPY2D copy{};
    copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = from;
    copy.srcPitch = copy.WidthInBytes = rows.bytes;
    copy.dstMemoryType = CU_MEMORYTYPE_HOST;
    copy.dstHost = to;
    copy.dstPitch = rows.pitch;
    copy.Height = rows.count;
    if (copy_at_once(device, queue, copy))
        return;
    for (std::size_t i = 0; i < rows.count; i++)
        queue.download(static_cast<char *>(to) + i * rows.pitch, from + i * rows.bytes, rows.bytes);
}

} // namespace ptsched::device
