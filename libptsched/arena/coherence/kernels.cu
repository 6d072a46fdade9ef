/* SPDX-License-Identifier: MIT */
/*
 * What GPUs do for the coherence of their memory with the host's. kernels.ptx is made of it: scripts/kernel-ptx.
 */
#include "libptsched/arena/coherence/kernels.h"

using namespace ptsched::arena;

namespace {

constexpr unsigned int page_vectors = arena_page_words / 4, warps = arena_threads / 32;

/* The bits of words that are not the same. */
__device__ unsigned int different(const uint4 &a, const uint4 &b)
{
    return (a.x != b.x) | (a.y != b.y) << 1 | (a.z != b.z) << 2 | (a.w != b.w) << 3;
}

__device__ unsigned int word_of(const uint4 &vector, unsigned int i)
{
    return i == 0 ? vector.x : i == 1 ? vector.y : i == 2 ? vector.z : vector.w;
}

__device__ void put_different(unsigned int *to, const uint4 &vector, unsigned int bits)
{
    for (unsigned int i = 0; i < 4; i++)
        if (bits >> i & 1)
            to[i] = word_of(vector, i);
}

/* Of a block. */
struct Shared {
    unsigned int of_warps[warps], at;
};

/* How many words those threads have that come before this one; and all of them. To be called by all threads. */
struct Place {
    unsigned int before, all;
};
__device__ Place place_of(unsigned int count, Shared &shared)
{
    const unsigned int lane = threadIdx.x % 32;
    unsigned int sum = count;
    for (unsigned int by = 1; by < 32; by *= 2) {
        const unsigned int others = __shfl_up_sync(~0u, sum, by);
        sum += lane >= by ? others : 0;
    }
    if (lane == 31)
        shared.of_warps[threadIdx.x / 32] = sum;
    __syncthreads();
    Place place{sum - count, 0};
    for (unsigned int i = 0; i < warps; i++) {
        place.before += i < threadIdx.x / 32 ? shared.of_warps[i] : 0;
        place.all += shared.of_warps[i];
    }
    return place;
}

/* Room for what is packed. Words: where the next goes, and where that ends for which there was room. */
struct Room {
    unsigned int *header, *packed, words;
};

/* Where so many words may be packed; null if there is no room. To be called by all threads. */
__device__ unsigned int *reserve(unsigned int words, const Room &room, Shared &shared)
{
    if (threadIdx.x == 0) {
        shared.at = atomicAdd(&room.header[0], words);
        if (shared.at > room.words || room.words - shared.at < words)
            atomicMin(&room.header[1], shared.at);
    }
    __syncthreads();
    return shared.at > room.words || room.words - shared.at < words ? nullptr : room.packed + shared.at;
}

/* The words of a chunk that differ; false if there is no room. To be called by all threads, of which some have some. */
__device__ bool pack(unsigned int chunk, const uint4 &current, const uint4 &twin, unsigned int bits, bool with_twin,
                     const Room &room, Shared &shared)
{
    const Place place = place_of(__popc(bits), shared);
    unsigned int *const to = reserve(arena_packed_words + place.all * (with_twin ? 2 : 1), room, shared);
    if (!to)
        return false;
    unsigned int word = bits << threadIdx.x % 8 * 4;
    for (unsigned int by = 1; by < 8; by *= 2)
        word |= __shfl_xor_sync(~0u, word, by);
    if (threadIdx.x % 8 == 0)
        to[2 + threadIdx.x / 8] = word;
    if (threadIdx.x == 0) {
        to[0] = chunk;
        to[1] = place.all;
    }
    unsigned int *next = to + arena_packed_words + place.before;
    for (unsigned int i = 0; i < 4; i++)
        if (bits >> i & 1) {
            *next = word_of(current, i);
            if (with_twin)
                next[place.all] = word_of(twin, i);
            next++;
        }
    return true;
}

} // namespace

/*
 * Makes pages of the twin equal, whose words in the GPU's memory were changed, and counts these. header: see Room. What
 * finds no room stays different.
 */
extern "C" __global__ void ptsched_arena_compare(const uint4 *current, uint4 *twin, const ArenaCompared *pages,
                                                 unsigned int *counts, unsigned int *header, unsigned int *packed,
                                                 unsigned int words)
{
    __shared__ Shared shared;
    const Room room{header, packed, words};
    const unsigned int entry = blockIdx.x / arena_page_blocks;
    const unsigned int page = pages[entry].page, mode = pages[entry].mode;
    const unsigned int first_chunk = blockIdx.x % arena_page_blocks * arena_block_chunks;
    const unsigned long long at = (unsigned long long)page * page_vectors + first_chunk * arena_threads + threadIdx.x;
    uint4 is[arena_block_chunks], was[arena_block_chunks];
    unsigned int bits[arena_block_chunks], any = 0, count = 0;
    for (unsigned int i = 0; i < arena_block_chunks; i++) {
        is[i] = current[at + i * arena_threads];
        was[i] = twin[at + i * arena_threads];
    }
    for (unsigned int i = 0; i < arena_block_chunks; i++)
        any |= bits[i] = different(is[i], was[i]);
    if (!__syncthreads_or(any))
        return;
    for (unsigned int i = 0; i < arena_block_chunks; i++) {
        if (mode != arena_count) {
            const unsigned int chunk = page * (arena_page_words / arena_chunk_words) + first_chunk + i;
            if (!__syncthreads_or(bits[i]) ||
                !pack(chunk, is[i], was[i], bits[i], mode == arena_pack_with_twin, room, shared))
                continue;
        }
        if (bits[i])
            twin[at + i * arena_threads] = is[i];
        count += __popc(bits[i]);
    }
    for (unsigned int by = 1; by < 32; by *= 2)
        count += __shfl_xor_sync(~0u, count, by);
    if (threadIdx.x % 32 == 0 && count)
        atomicAdd(&counts[entry], count);
}

/*
 * Words that come from the host, whose memory is read over the bus: by many blocks at once, since each read takes a
 * microsecond.
 */
extern "C" __global__ void ptsched_arena_bring(uint4 *current, uint4 *twin, const ArenaIncoming *pages)
{
    const ArenaIncoming incoming = pages[blockIdx.x / arena_page_blocks];
    const unsigned int first = blockIdx.x % arena_page_blocks * arena_block_chunks * arena_threads + threadIdx.x;
    const unsigned long long at = (unsigned long long)incoming.page * page_vectors + first;
    const uint4 *const from = (const uint4 *)incoming.from;
    uint4 next[arena_block_chunks];
    for (unsigned int i = 0; i < arena_block_chunks; i++)
        next[i] = from ? from[first + i * arena_threads] : make_uint4(0, 0, 0, 0);
    for (unsigned int i = 0; i < arena_block_chunks; i++) {
        const unsigned long long to = at + i * arena_threads;
        if (!incoming.only_different) {
            current[to] = next[i];
            twin[to] = next[i];
        } else if (const unsigned int bits = different(next[i], twin[to])) {
            put_different((unsigned int *)&current[to], next[i], bits);
            twin[to] = next[i];
        }
    }
}

/* What GPUs have changed goes to the host, whose memory is written over the bus. */
extern "C" __global__ void ptsched_arena_send(const uint4 *current, uint4 *twin, const ArenaOutgoing *pages)
{
    const ArenaOutgoing outgoing = pages[blockIdx.x / arena_page_blocks];
    const unsigned int first = blockIdx.x % arena_page_blocks * arena_block_chunks * arena_threads + threadIdx.x;
    const unsigned long long at = (unsigned long long)outgoing.page * page_vectors + first;
    uint4 *const to = (uint4 *)outgoing.to;
    uint4 next[arena_block_chunks];
    for (unsigned int i = 0; i < arena_block_chunks; i++)
        next[i] = outgoing.from_twin ? twin[at + i * arena_threads] : current[at + i * arena_threads];
    for (unsigned int i = 0; i < arena_block_chunks; i++) {
        if (!outgoing.from_twin)
            twin[at + i * arena_threads] = next[i];
        if (to)
            to[first + i * arena_threads] = next[i];
    }
}
