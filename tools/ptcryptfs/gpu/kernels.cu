// SPDX-License-Identifier: MIT
/*
 * AES-256-XTS: a block of threads for each sector of 4096 bytes, and a thread for each 16 of them. kernels.ptx is made
 * of it: scripts/kernel-ptx.
 */
#include "tools/ptcryptfs/gpu/aes.h"

using namespace ptcryptfs::aes;

/* Of a name that does not depend on where this is compiled. */
extern "C" {
__constant__ Tables ptcryptfs_tables = make_tables();
}

namespace {

/* What each thread of a block looks up, in memory that takes an address of each. */
struct Shared {
    std::uint32_t encrypt[256], decrypt[256];
    std::uint8_t box[256], inverse[256];
    Schedules schedules;
    std::uint64_t tweak[2];
};

__device__ std::uint32_t byte_of(std::uint32_t word, unsigned number)
{
    return word >> (8 * number) & 0xff;
}

__device__ std::uint32_t turned(std::uint32_t word, unsigned bytes)
{
    return word << (8 * bytes) | word >> (32 - 8 * bytes);
}

/* A column of the next round; @step: 1 for encryption, 3 for decryption, as rows are shifted one way or the other. */
__device__ std::uint32_t next_column(const std::uint32_t *table, const std::uint32_t *state, unsigned i, unsigned step)
{
    return table[byte_of(state[i], 0)] ^ turned(table[byte_of(state[(i + step) % 4], 1)], 1) ^
           turned(table[byte_of(state[(i + 2) % 4], 2)], 2) ^ turned(table[byte_of(state[(i + 3 * step) % 4], 3)], 3);
}

__device__ std::uint32_t last_column(const std::uint8_t *box, const std::uint32_t *state, unsigned i, unsigned step)
{
    return box[byte_of(state[i], 0)] | box[byte_of(state[(i + step) % 4], 1)] << 8 |
           box[byte_of(state[(i + 2) % 4], 2)] << 16 |
           static_cast<std::uint32_t>(box[byte_of(state[(i + 3 * step) % 4], 3)]) << 24;
}

__device__ void cipher(const std::uint32_t *table, const std::uint8_t *box, const std::uint32_t *schedule,
                       unsigned step, std::uint32_t (&state)[4])
{
    std::uint32_t next[4];
    for (unsigned i = 0; i < 4; i++)
        state[i] ^= schedule[i];
    for (unsigned round = 1; round < rounds; round++) {
        for (unsigned i = 0; i < 4; i++)
            next[i] = next_column(table, state, i, step) ^ schedule[4 * round + i];
        for (unsigned i = 0; i < 4; i++)
            state[i] = next[i];
    }
    for (unsigned i = 0; i < 4; i++)
        next[i] = last_column(box, state, i, step) ^ schedule[4 * rounds + i];
    for (unsigned i = 0; i < 4; i++)
        state[i] = next[i];
}

/* Times x to the power of @bits, below 64, in GF(2^128) with x^128 = x^7 + x^2 + x + 1. */
__device__ void multiply(std::uint64_t &low, std::uint64_t &high, unsigned bits)
{
    if (!bits)
        return;
    const std::uint64_t over = high >> (64 - bits);
    high = high << bits | low >> (64 - bits);
    low = low << bits ^ over ^ over << 1 ^ over << 2 ^ over << 7;
}

__device__ void fill(Shared &shared, const Request &request)
{
    const unsigned i = threadIdx.x;
    shared.encrypt[i] = ptcryptfs_tables.encrypt[i];
    shared.decrypt[i] = ptcryptfs_tables.decrypt[i];
    shared.box[i] = ptcryptfs_tables.box[i];
    shared.inverse[i] = ptcryptfs_tables.inverse[i];
    if (i < schedule_words) {
        shared.schedules.data[i] = request.schedules.data[i];
        shared.schedules.tweak[i] = request.schedules.tweak[i];
    }
}

/* One thread's work: the number of a sector, encrypted. */
__device__ void make_tweak(Shared &shared, std::uint64_t sector)
{
    std::uint32_t state[4] = {static_cast<std::uint32_t>(sector), static_cast<std::uint32_t>(sector >> 32), 0, 0};
    cipher(shared.encrypt, shared.box, shared.schedules.tweak, 1, state);
    shared.tweak[0] = state[0] | static_cast<std::uint64_t>(state[1]) << 32;
    shared.tweak[1] = state[2] | static_cast<std::uint64_t>(state[3]) << 32;
}

} // namespace

extern "C" __global__ void __launch_bounds__(256) ptcryptfs_xts(uint4 *data, const Request request)
{
    __shared__ Shared shared;
    fill(shared, request);
    __syncthreads();
    if (threadIdx.x == 0)
        make_tweak(shared, request.first + blockIdx.x);
    __syncthreads();
    std::uint64_t low = shared.tweak[0], high = shared.tweak[1];
    multiply(low, high, threadIdx.x % 32);
    for (unsigned i = 0; i < threadIdx.x / 32; i++)
        multiply(low, high, 32);
    const std::uint32_t tweak[4] = {static_cast<std::uint32_t>(low), static_cast<std::uint32_t>(low >> 32),
                                    static_cast<std::uint32_t>(high), static_cast<std::uint32_t>(high >> 32)};
    uint4 &own = data[blockIdx.x * blockDim.x + threadIdx.x];
    const uint4 before = own;
    std::uint32_t state[4] = {before.x ^ tweak[0], before.y ^ tweak[1], before.z ^ tweak[2], before.w ^ tweak[3]};
    if (request.decrypts)
        cipher(shared.decrypt, shared.inverse, shared.schedules.data, 3, state);
    else
        cipher(shared.encrypt, shared.box, shared.schedules.data, 1, state);
    own = make_uint4(state[0] ^ tweak[0], state[1] ^ tweak[1], state[2] ^ tweak[2], state[3] ^ tweak[3]);
}
