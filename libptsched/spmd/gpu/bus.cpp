// SPDX-License-Identifier: MIT
#include "libptsched/spmd/gpu/bus.hpp"

#include "libptsched/cuda/cuda_abi.h"

#include <cstring>
#include <dlfcn.h>

namespace ptsched::spmd {

/* The driver is there already, if there is one: devices have loaded it. */
bool is_pinned(const void *memory)
{
    using Ask = CUresult(void *, CUpointer_attribute, CUdeviceptr);
    static Ask *const ask = [] {
        void *const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
        return driver ? reinterpret_cast<Ask *>(dlsym(driver, "cuPointerGetAttribute")) : nullptr;
    }();
    unsigned int type = 0;
    return ask && ask(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, reinterpret_cast<CUdeviceptr>(memory)) == CUDA_SUCCESS &&
           type == CU_MEMORYTYPE_HOST;
}

Bus::~Bus()
{
    for (const Chunk &chunk : chunks_)
        if (chunk.used)
            device::settle(*chunk.used);
}

void Bus::wait(Chunk &chunk)
{
    if (chunk.used)
        chunk.used->wait();
    chunk.used = nullptr;
}

Bus::Chunk &Bus::chunk(std::size_t number)
{
    Chunk &chunk = chunks_[number % chunks_.size()];
    wait(chunk);
    if (chunk.memory.empty())
        chunk.memory = device::Allocation::pinned(chunk_bytes);
    return chunk;
}

void Bus::upload(device::Address to, const std::byte *from, std::size_t bytes)
{
    if (is_pinned(from)) {
        queue_.upload(to, from, bytes);
        return;
    }
    for (std::size_t number = 0; bytes; number++) {
        const std::size_t some = std::min(bytes, chunk_bytes);
        Chunk &next = chunk(number);
        std::memcpy(next.memory.host_address(), from, some);
        queue_.upload(to, next.memory.host_address(), some);
        next.used = queue_.mark();
        to += some;
        from += some;
        bytes -= some;
    }
}

void Bus::download(std::byte *to, device::Address from, std::size_t bytes)
{
    if (is_pinned(to)) {
        queue_.download(to, from, bytes);
        queue_.finish();
        return;
    }
    const std::size_t count = (bytes + chunk_bytes - 1) / chunk_bytes;
    const auto bytes_of = [&](std::size_t number) { return std::min(chunk_bytes, bytes - number * chunk_bytes); };
    for (std::size_t number = 0; number < count + 1; number++) {
        if (number < count) {
            Chunk &next = chunk(number);
            queue_.download(next.memory.host_address(), from + number * chunk_bytes, bytes_of(number));
            next.used = queue_.mark();
        }
        if (number) {
            Chunk &last = chunks_[(number - 1) % chunks_.size()];
            wait(last);
            std::memcpy(to + (number - 1) * chunk_bytes, last.memory.host_address(), bytes_of(number - 1));
        }
    }
}

} // namespace ptsched::spmd
