// SPDX-License-Identifier: MIT
#include "libptsched/device/multiply_add.hpp"

#include <cstring>

namespace ptsched::device::multiply_add {

namespace {

/* A step of each chain. */
#define STEP                                                                                                           \
    "    fma.rn.f32 x0, x0, half, half;\n"                                                                             \
    "    fma.rn.f32 x1, x1, half, half;\n"                                                                             \
    "    fma.rn.f32 x2, x2, half, half;\n"                                                                             \
    "    fma.rn.f32 x3, x3, half, half;\n"                                                                             \
    "    fma.rn.f32 x4, x4, half, half;\n"                                                                             \
    "    fma.rn.f32 x5, x5, half, half;\n"                                                                             \
    "    fma.rn.f32 x6, x6, half, half;\n"                                                                             \
    "    fma.rn.f32 x7, x7, half, half;\n"

/*
 * Eight chains in each thread, since the next step of one waits some clocks for the last. What comes of it is positive,
 * so that nothing is ever written, which the compiler does not know.
 */
constexpr char ptx[] = R"(.version 6.4
.target sm_70
.address_size 64

.visible .entry ptsched_multiply_add(.param .u64 unwritten, .param .u32 rounds)
{
    .reg .pred more, negative;
    .reg .f32 x<8>, half;
    .reg .b32 left, number;
    .reg .b64 to;

    ld.param.u64 to, [unwritten];
    ld.param.u32 left, [rounds];
    mov.u32 number, %tid.x;
    cvt.rn.f32.u32 x0, number;
    mov.f32 half, 0f3F000000;
    add.f32 x1, x0, half;
    add.f32 x2, x1, half;
    add.f32 x3, x2, half;
    add.f32 x4, x3, half;
    add.f32 x5, x4, half;
    add.f32 x6, x5, half;
    add.f32 x7, x6, half;
again:
)" STEP STEP STEP STEP R"(    sub.u32 left, left, 1;
    setp.ne.u32 more, left, 0;
    @more bra again;

    add.f32 x0, x0, x1;
    add.f32 x2, x2, x3;
    add.f32 x4, x4, x5;
    add.f32 x6, x6, x7;
    add.f32 x0, x0, x2;
    add.f32 x4, x4, x6;
    add.f32 x0, x0, x4;
    setp.lt.f32 negative, x0, 0f00000000;
    @negative st.global.f32 [to], x0;
    ret;
}
)";
#undef STEP

/* Eight chains of vectors; the compiler takes what registers the processor has for them. */
using Vector [[gnu::vector_size(64)]] = float;
constexpr unsigned chains = 8;

[[gnu::always_inline]] inline float chains_of(unsigned rounds)
{
    const Vector half = Vector{} + 0.5f;
    Vector x[chains];
    for (unsigned i = 0; i < chains; i++)
        x[i] = half + static_cast<float>(i);
    while (rounds--)
        for (Vector &one : x)
            one = one * half + half;
    float sum = 0;
    for (const Vector &one : x)
        sum += one[0];
    return sum;
}

[[gnu::target("avx512f")]] float with_avx512(unsigned rounds)
{
    return chains_of(rounds);
}

[[gnu::target("avx2,fma")]] float with_avx2(unsigned rounds)
{
    return chains_of(rounds);
}

} // namespace

std::unique_ptr<Code> kernel(Device &gpu)
{
    return cuda_code_from_image(gpu, std::as_bytes(std::span(ptx, std::strlen(ptx))), "ptsched_multiply_add");
}

float on_host(unsigned rounds)
{
    if (__builtin_cpu_supports("avx512f"))
        return with_avx512(rounds);
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return with_avx2(rounds);
    return chains_of(rounds);
}

} // namespace ptsched::device::multiply_add
