// SPDX-License-Identifier: MIT
/* Reserved addresses, and memory that is mapped there. */
#include "tests/vgpu/test_libcuda.h"

#include <algorithm>
#include <numeric>
#include <unistd.h>

namespace test {

namespace {

constexpr std::size_t piece = 2 << 20;

CUmemAllocationProp on_device(int device, CUmemAllocationHandleType types = CU_MEM_HANDLE_TYPE_NONE)
{
    return {CU_MEM_ALLOCATION_TYPE_PINNED, types, {CU_MEM_LOCATION_TYPE_DEVICE, device}, nullptr, {}};
}

CUmemAccessDesc access(int device, CUmemAccess_flags flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
{
    return {{CU_MEM_LOCATION_TYPE_DEVICE, device}, flags};
}

CUdeviceptr reserve(std::size_t bytes, CUdeviceptr wanted = 0, std::size_t alignment = 0)
{
    CUdeviceptr address = 0;
    CU(cuMemAddressReserve(&address, bytes, alignment, wanted, 0));
    return address;
}

CUmemGenericAllocationHandle create(std::size_t bytes, const CUmemAllocationProp &properties = on_device(0))
{
    CUmemGenericAllocationHandle handle = 0;
    CU(cuMemCreate(&handle, bytes, &properties, 0));
    return handle;
}

std::size_t available()
{
    std::size_t free = 0, total = 0;
    CU(cuMemGetInfo_v2(&free, &total));
    return free;
}

void wanted_addresses()
{
    const CUdeviceptr range = reserve(8 * piece);
    CUdeviceptr address = 0;

    CU(cuMemAddressFree(range, 8 * piece));
    const CUdeviceptr wanted = range + 3 * piece;
    CHECK_EQ(reserve(2 * piece, wanted), wanted);
    /* What is taken is not given again, nor is anything in it. */
    const CUdeviceptr other = reserve(2 * piece, wanted + piece);
    CHECK(other && (other + 2 * piece <= wanted || other >= wanted + 2 * piece));
    CHECK_EQ(reserve(piece, wanted + 2 * piece), wanted + 2 * piece);
    CHECK_EQ(reserve(piece, wanted - piece), wanted - piece);
    const CUdeviceptr aligned = reserve(piece, 0, 64 * piece);
    CHECK_EQ(aligned % (64 * piece), 0u);

    CU_IS(cuMemAddressReserve(&address, piece + 4096, 0, 0, 0), CUDA_ERROR_INVALID_VALUE);
    CU_IS(cuMemAddressReserve(&address, piece, 0, wanted + 4096, 0), CUDA_ERROR_INVALID_VALUE);
    CU_IS(cuMemAddressReserve(&address, piece, 3 * piece, 0, 0), CUDA_ERROR_INVALID_VALUE);
    CU_IS(cuMemAddressReserve(&address, 0, 0, 0, 0), CUDA_ERROR_INVALID_VALUE);
    CU_IS(cuMemAddressFree(wanted, piece), CUDA_ERROR_INVALID_VALUE);
    CU_IS(cuMemAddressFree(wanted + piece, piece), CUDA_ERROR_INVALID_VALUE);
    CU(cuMemAddressFree(wanted, 2 * piece));
    CU_IS(cuMemAddressFree(wanted, 2 * piece), CUDA_ERROR_INVALID_VALUE);
    CHECK_EQ(reserve(2 * piece, wanted), wanted);
    for (const auto &[start, bytes] : {std::pair<CUdeviceptr, std::size_t>{wanted, 2 * piece},
                                       {other, 2 * piece},
                                       {wanted + 2 * piece, piece},
                                       {wanted - piece, piece},
                                       {aligned, piece}})
        CU(cuMemAddressFree(start, bytes));
}

/* Pieces side by side are one range to copies and kernels, and keep what is in them when they move. */
void mapped_memory()
{
    constexpr unsigned int count = 2 * piece / sizeof(unsigned int);
    Context context;
    const std::size_t before = available();
    const CUdeviceptr range = reserve(4 * piece);
    const CUmemGenericAllocationHandle first = create(piece), second = create(piece);
    const CUmemAccessDesc write = access(0);
    std::vector<unsigned int> in(count), out(count);

    CHECK_EQ(available(), before - 2 * piece);
    CU(cuMemMap(range, piece, 0, first, 0));
    CU(cuMemMap(range + piece, piece, 0, second, 0));
    CU_IS(cuMemMap(range + piece, piece, 0, first, 0), CUDA_ERROR_INVALID_VALUE);
    CU_IS(cuMemsetD8_v2(range, 0, 16), CUDA_ERROR_INVALID_VALUE);
    CU(cuMemSetAccess(range, 2 * piece, &write, 1));
    std::iota(in.begin(), in.end(), 11u);
    CU(cuMemcpyHtoD_v2(range, in.data(), 2 * piece));
    CU(launch_count(context, range + piece - sizeof(unsigned int), 5, nullptr));
    CU(launch_count(context, range + piece, 7, nullptr));
    in[count / 2 - 1] += 5;
    in[count / 2] += 7;
    CU(cuMemcpyDtoH_v2(out.data(), range, 2 * piece));
    CHECK(in == out);
    CU_IS(cuMemcpyDtoH_v2(out.data(), range + 4, 2 * piece), CUDA_ERROR_INVALID_VALUE);
    CU_IS(cuMemFree_v2(range), CUDA_ERROR_INVALID_VALUE);
    CU_IS(cuMemAddressFree(range, 4 * piece), CUDA_ERROR_INVALID_VALUE);
    CU_IS(cuMemUnmap(range + piece / 2, piece), CUDA_ERROR_INVALID_VALUE);

    /* The other way round, and one of them twice. */
    CU(cuMemUnmap(range, 2 * piece));
    CU_IS(cuMemcpyDtoH_v2(out.data(), range, 16), CUDA_ERROR_INVALID_VALUE);
    CU(cuMemMap(range, piece, 0, second, 0));
    CU(cuMemMap(range + piece, piece, 0, first, 0));
    CU(cuMemMap(range + 2 * piece, piece, 0, second, 0));
    CU(cuMemSetAccess(range, 3 * piece, &write, 1));
    CU(cuMemsetD32_v2(range, 1, 1));
    in[count / 2] = 1;
    std::rotate(in.begin(), in.begin() + count / 2, in.end());
    CU(cuMemcpyDtoH_v2(out.data(), range, 2 * piece));
    CHECK(in == out);
    CU(cuMemcpyDtoH_v2(out.data(), range + 2 * piece, piece));
    CHECK(std::equal(in.begin(), in.begin() + count / 2, out.begin()));

    /* Memory lives as long as it is mapped. */
    CU(cuMemRelease(first));
    CU(cuMemRelease(second));
    CU_IS(cuMemRelease(second), CUDA_ERROR_INVALID_VALUE);
    CHECK_EQ(available(), before - 2 * piece);
    CU(cuMemUnmap(range, 2 * piece));
    CHECK_EQ(available(), before - piece);
    CU(cuMemcpyDtoH_v2(out.data(), range + 2 * piece, piece));
    CU(cuMemUnmap(range + 2 * piece, piece));
    CHECK_EQ(available(), before);
    CU(cuMemAddressFree(range, 4 * piece));
}

void access_by_devices()
{
    Context context;
    const CUdeviceptr range = reserve(2 * piece);
    const CUmemGenericAllocationHandle memory = create(2 * piece);
    const CUmemLocation here{CU_MEM_LOCATION_TYPE_DEVICE, 0}, there{CU_MEM_LOCATION_TYPE_DEVICE, 1};
    const CUmemAccessDesc both[] = {access(0), access(1, CU_MEM_ACCESS_FLAGS_PROT_READ)};
    const CUmemAccessDesc none = access(0, CU_MEM_ACCESS_FLAGS_PROT_NONE), nowhere = access(7);
    CUmemGenericAllocationHandle again = 0;
    CUmemAllocationProp properties{};
    unsigned long long flags = 9;

    CU_IS(cuMemMap(range, 2 * piece, piece, memory, 0), CUDA_ERROR_INVALID_VALUE);
    CU(cuMemMap(range, piece, piece, memory, 0));
    CU(cuMemGetAccess(&flags, &here, range));
    CHECK_EQ(flags, 0u);
    CU_IS(cuMemSetAccess(range, 2 * piece, both, 2), CUDA_ERROR_INVALID_VALUE);
    CU_IS(cuMemSetAccess(range, piece, &nowhere, 1), CUDA_ERROR_INVALID_DEVICE);
    CU(cuMemSetAccess(range, piece, both, 2));
    CU(cuMemGetAccess(&flags, &here, range + 5));
    CHECK_EQ(flags, static_cast<unsigned long long>(CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    CU(cuMemGetAccess(&flags, &there, range));
    CHECK_EQ(flags, static_cast<unsigned long long>(CU_MEM_ACCESS_FLAGS_PROT_READ));
    CU_IS(cuMemGetAccess(&flags, &there, range + piece), CUDA_ERROR_INVALID_VALUE);
    CU(cuMemsetD8_v2(range, 3, piece));
    CU(cuMemRetainAllocationHandle(&again, reinterpret_cast<void *>(static_cast<std::uintptr_t>(range))));
    CHECK_EQ(again, memory);
    CU(cuMemGetAllocationPropertiesFromHandle(&properties, again));
    CHECK_EQ(properties.location.id, 0);
    CU(cuMemRelease(memory));
    CU(cuMemRelease(again));
    CU(cuMemSetAccess(range, piece, &none, 1));
    CU(cuMemUnmap(range, piece));
    CU(cuMemAddressFree(range, 2 * piece));
}

void shared_by_descriptor()
{
    Context context;
    const CUmemAllocationProp properties = on_device(1, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    const CUdeviceptr range = reserve(2 * piece);
    const CUmemGenericAllocationHandle memory = create(piece, properties), secret = create(piece);
    const CUmemAccessDesc write = access(1);
    CUmemGenericAllocationHandle imported = 0;
    CUmemAllocationProp learnt{};
    unsigned int value = 0;
    int fd = -1;

    CU_IS(cuMemExportToShareableHandle(&fd, secret, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
          CUDA_ERROR_INVALID_VALUE);
    CU(cuMemExportToShareableHandle(&fd, memory, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    CU(cuMemImportFromShareableHandle(&imported, reinterpret_cast<void *>(static_cast<std::intptr_t>(fd)),
                                      CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    CHECK_EQ(close(fd), 0);
    CU(cuMemGetAllocationPropertiesFromHandle(&learnt, imported));
    CHECK_EQ(learnt.location.id, 1);
    CU(cuMemMap(range, piece, 0, memory, 0));
    CU(cuMemMap(range + piece, piece, 0, imported, 0));
    CU(cuMemSetAccess(range, 2 * piece, &write, 1));
    CU(cuMemsetD32_v2(range + 40, 1234, 1));
    CU(cuMemcpyDtoH_v2(&value, range + piece + 40, sizeof(value)));
    CHECK_EQ(value, 1234u);
    CU(cuMemUnmap(range, 2 * piece));
    CU(cuMemAddressFree(range, 2 * piece));
    for (CUmemGenericAllocationHandle handle : {memory, secret, imported})
        CU(cuMemRelease(handle));
    int pair[2];
    CHECK_EQ(pipe(pair), 0);
    CU_IS(cuMemImportFromShareableHandle(&imported, reinterpret_cast<void *>(static_cast<std::intptr_t>(pair[0])),
                                         CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
          CUDA_ERROR_INVALID_VALUE);
    close(pair[0]);
    close(pair[1]);
}

void what_cannot_be_made()
{
    Context context;
    CUmemGenericAllocationHandle handle = 0;
    CUmemAllocationProp properties = on_device(0);
    std::size_t free = 0, total = 0, granularity = 0;

    CU(cuMemGetAllocationGranularity(&granularity, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    CHECK(granularity && piece % granularity == 0);
    CU_IS(cuMemCreate(&handle, granularity / 2, &properties, 0), CUDA_ERROR_INVALID_VALUE);
    CU_IS(cuMemCreate(&handle, piece, nullptr, 0), CUDA_ERROR_INVALID_VALUE);
    CU(cuMemGetInfo_v2(&free, &total));
    CU_IS(cuMemCreate(&handle, total / piece * piece + piece, &properties, 0), CUDA_ERROR_OUT_OF_MEMORY);
    CHECK_EQ(available(), free);
    properties.location.id = 2;
    CU_IS(cuMemCreate(&handle, piece, &properties, 0), CUDA_ERROR_INVALID_DEVICE);
    CU_IS(cuMemMap(piece, piece, 0, 999999, 0), CUDA_ERROR_INVALID_VALUE);
    CU_IS(cuMemUnmap(piece, piece), CUDA_ERROR_INVALID_VALUE);
}

} // namespace

void add_vmm_cases(std::vector<tap::Case> &cases)
{
    cases.insert(cases.end(), {
                                  {"addresses that are wanted", wanted_addresses},
                                  {"memory that is mapped, moved and released", mapped_memory},
                                  {"which device may touch it", access_by_devices},
                                  {"memory by descriptor", shared_by_descriptor},
                                  {"memory that cannot be made", what_cannot_be_made},
                              });
}

} // namespace test
