// SPDX-License-Identifier: MIT
#include "libptsched/preload/meter/estimate.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace ptsched::preload {
namespace {

enum Kind : std::uint64_t { launch = 1, whole_graph, upload, copy, fill, batch };

/* Between two events of the same work; of a short kernel that is most of the difference. */
constexpr float event_noise_ns = 2000;

/* Copies that were never measured: what PCIe gives at worst, and a launch. */
constexpr std::uint64_t launch_ns = 10000, bytes_per_ns = 8;

std::uint64_t mix(std::uint64_t a, std::uint64_t b)
{
    std::uint64_t x = (a ^ std::rotl(b, 29)) * 0x9e3779b97f4a7c15;
    x ^= x >> 32;
    return x * 0xd6e8feb86659fd93;
}

std::uint64_t bits(const void *handle)
{
    return reinterpret_cast<std::uintptr_t>(handle);
}

Key sized(Kind kind, std::size_t bytes)
{
    return {mix(kind, bytes), mix(kind, 64 + std::bit_width(bytes)), launch_ns + bytes / bytes_per_ns};
}

} // namespace

Key launch_key(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
               unsigned shared)
{
    std::uint64_t kind = mix(launch, bits(f));
    std::uint64_t grid = mix(std::uint64_t(gx) << 32 | gy, gz);
    std::uint64_t block = mix(std::uint64_t(bx) << 32 | by, bz);
    return {.exact = mix(kind, mix(grid, block)),
            .kind = kind,
            .guess_ns = 0,
            .function = f,
            .blocks = std::uint64_t(gx) * gy * gz,
            .block_threads = std::uint64_t(bx) * by * bz,
            .block_shared = shared};
}

Key launch_key(CUfunction f, const CUlaunchConfig *c)
{
    if (!c)
        return handle_key(f);
    return launch_key(f, c->gridDimX, c->gridDimY, c->gridDimZ, c->blockDimX, c->blockDimY, c->blockDimZ,
                      c->sharedMemBytes);
}

Key handle_key(const void *handle)
{
    std::uint64_t key = mix(whole_graph, bits(handle));
    return {key, key, 0};
}

Key upload_key(const void *graph)
{
    std::uint64_t key = mix(upload, bits(graph));
    return {key, mix(upload, 0), launch_ns};
}

Key copy_key(std::size_t bytes)
{
    return sized(copy, bytes);
}

Key copy_key(const CUDA_MEMCPY2D *c)
{
    return copy_key(c ? c->WidthInBytes * c->Height : 0);
}

Key copy_key(const CUDA_MEMCPY3D *c)
{
    return copy_key(c ? c->WidthInBytes * c->Height * c->Depth : 0);
}

Key copy_key(const CUDA_MEMCPY3D_PEER *c)
{
    return copy_key(c ? c->WidthInBytes * c->Height * c->Depth : 0);
}

Key fill_key(std::size_t bytes)
{
    return sized(fill, bytes);
}

Key batch_key(const std::size_t *sizes, std::size_t count)
{
    std::size_t bytes = 0;
    for (std::size_t i = 0; sizes && i < count; i++)
        bytes += sizes[i];
    Key key = sized(batch, bytes);
    key.exact = mix(key.exact, count);
    return key;
}

CUstream upload_stream(const CUDA_GRAPH_INSTANTIATE_PARAMS *how)
{
    return how && how->flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD ? how->hUploadStream : no_stream;
}

std::uint64_t Estimates::of(const Key &key) const
{
    for (std::uint64_t k : {key.exact, key.kind}) {
        const Cell &cell = cells_[index(k)];
        if (cell.key == k)
            return static_cast<std::uint64_t>(cell.ns);
    }
    return key.guess_ns;
}

bool Estimates::knows(const Key &key) const
{
    const Cell &cell = cells_[index(key.exact)];
    return cell.key == key.exact && cell.agreeing >= enough;
}

bool Estimates::has_mean(const Key &key) const
{
    const Cell &cell = cells_[index(key.exact)];
    return cell.key == key.exact && cell.seen >= enough;
}

bool Estimates::waits_for_others(const Key &key) const
{
    const Cell &cell = cells_[index(key.exact)];
    return cell.key == key.exact && cell.waits;
}

void Estimates::learn_wait(const Key &key, bool waits)
{
    Cell &cell = cells_[index(key.exact)];
    if (cell.key != key.exact && waits)
        cell = {key.exact, 0, 0, 0, true};
    else if (cell.key == key.exact)
        cell.waits = waits;
}

void Estimates::learn(const Key &key, std::uint64_t ns)
{
    learn(key.exact, ns);
    if (key.kind != key.exact)
        learn(key.kind, ns);
}

void Estimates::learn(std::uint64_t key, std::uint64_t ns)
{
    Cell &cell = cells_[index(key)];
    float value = static_cast<float>(ns ? ns : 1);
    if (cell.key != key)
        cell = {key, value, 0, 0, false};
    bool agrees = std::abs(value - cell.ns) <= cell.ns / 10 + event_noise_ns;
    cell.seen = std::min<std::uint16_t>(cell.seen + 1, enough);
    cell.agreeing = agrees ? std::min<std::uint16_t>(cell.agreeing + 1, enough) : 0;
    cell.ns += (value - cell.ns) / 4;
}

} // namespace ptsched::preload
