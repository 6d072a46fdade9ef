// SPDX-License-Identifier: MIT
/* The GPU that encrypts, which is a virtual one, beside OpenSSL. */
#include "libptsched/cuda/cuda_abi.h"
#include "tests/encfs/known_answers.hpp"
#include "tests/vgpu/daemon.h"
#include "tools/ptcryptfs/gpu/gpu_engine.hpp"
#include <ptsched/device/device.hpp>

#include <thread>

namespace test {

namespace {

Engine &cpu()
{
    static const std::unique_ptr<Engine> engine = make_cpu_engine();
    return *engine;
}

/* It stays when the driver does not: as devices do, it is not destroyed. */
Engine &gpu()
{
    static Engine &engine = *make_gpu_engine().release();
    return engine;
}

void as_openssl_does()
{
    Random random(1);
    const Secret key = key_of_hex(ieee_key);
    for (int i = 0; i < 20; i++) {
        const std::uint64_t first = i % 2 ? random.below(1000) : ~std::uint64_t{0} - random.below(1000);
        const std::vector<std::byte> plain = random.bytes((1 + random.below(12)) * sector_bytes);
        std::vector<std::byte> one = plain, other = plain;
        cpu().encrypt(key, first, one);
        gpu().encrypt(key, first, other);
        CHECK(one == other);
        std::vector<std::byte> elsewhere(plain.size());
        gpu().encrypt(key, first, plain, elsewhere);
        CHECK(one == elsewhere);
        gpu().decrypt(key, first, other);
        CHECK(other == plain);
    }
}

void several_threads()
{
    const Secret key = key_of_hex(ieee_key);
    std::vector<std::jthread> threads;
    for (unsigned t = 0; t < 3; t++)
        threads.emplace_back([&key, t] {
            Random random(t);
            for (int i = 0; i < 8; i++) {
                const Buffer buffer = gpu().buffer(2 * sector_bytes);
                const std::vector<std::byte> plain = random.bytes(2 * sector_bytes);
                std::ranges::copy(plain, buffer.bytes().begin());
                gpu().encrypt(key, t, buffer.bytes());
                CHECK(!std::ranges::equal(plain, buffer.bytes()));
                cpu().decrypt(key, t, buffer.bytes());
                CHECK(std::ranges::equal(plain, buffer.bytes()));
            }
        });
}

/* Who waits for a GPU that others use has no CPU meanwhile. */
void waits_are_sleep()
{
    unsigned flags = 0;
    int active = 0;
    gpu();
    CHECK_EQ(static_cast<int>(cuDevicePrimaryCtxGetState(0, &flags, &active)), static_cast<int>(CUDA_SUCCESS));
    CHECK_EQ(active, 1);
    CHECK_EQ(flags & CU_CTX_SCHED_BLOCKING_SYNC, static_cast<unsigned>(CU_CTX_SCHED_BLOCKING_SYNC));
}

void ptx_is_made_of_the_source()
{
    CHECK_EQ(std::system(KERNEL_PTX " --check tools/ptcryptfs/gpu"), 0);
}

std::string why_no_nvcc()
{
    const int status = std::system(KERNEL_PTX " --made-by tools/ptcryptfs/gpu");
    return WIFEXITED(status) && WEXITSTATUS(status) == 77 ? "no nvcc of the release that has made it" : "";
}

} // namespace

} // namespace test

int main()
{
    using namespace test;
    const Daemon daemon;
    prepare_secrets();
    return tap::run({{"a GPU gives IEEE 1619's vectors", [] { check_known_answers(gpu()); }},
                     {"a GPU does as OpenSSL does", as_openssl_does},
                     {"a GPU for several threads", several_threads},
                     {"who waits for a GPU sleeps", waits_are_sleep},
                     {"PTX is made of the source", ptx_is_made_of_the_source, why_no_nvcc()}});
}
