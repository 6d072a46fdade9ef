// SPDX-License-Identifier: MIT
#include "libptsched/spmd/roofline/peaks.hpp"

#include <string>

namespace ptsched::spmd::model {

namespace {

constexpr unsigned chains = 12, steps = 4;
constexpr std::size_t vector_bytes = 64;

/* Chains of vectors: the next step of one waits some clocks for the last, and meanwhile others go on. */
template <typename Number> [[gnu::always_inline]] inline Number chains_of(unsigned rounds)
{
    using Vector [[gnu::vector_size(vector_bytes)]] = Number;
    const Vector half = Vector{} + Number(0.5);
    Vector x[chains];
    for (unsigned i = 0; i < chains; i++)
        x[i] = half + static_cast<Number>(i);
    while (rounds--)
        for (unsigned step = 0; step < steps; step++)
            for (Vector &one : x)
                one = one * half + half;
    Number sum = 0;
    for (const Vector &one : x)
        sum += one[0];
    return sum;
}

[[gnu::always_inline]] inline std::uint64_t sum_of(const std::uint64_t *numbers, std::size_t count)
{
    using Vector [[gnu::vector_size(vector_bytes), gnu::aligned(8), gnu::may_alias]] = std::uint64_t;
    constexpr std::size_t per_vector = vector_bytes / sizeof(std::uint64_t), at_once = 4;
    Vector sums[at_once] = {};
    std::size_t i = 0;
    for (; i + at_once * per_vector <= count; i += at_once * per_vector)
        for (std::size_t k = 0; k < at_once; k++)
            sums[k] += *reinterpret_cast<const Vector *>(numbers + i + k * per_vector);
    std::uint64_t sum = 0;
    for (; i < count; i++)
        sum += numbers[i];
    for (const Vector &one : sums)
        for (std::size_t k = 0; k < per_vector; k++)
            sum += one[k];
    return sum;
}

#ifdef __x86_64__
template <typename Number> [[gnu::target("avx512f")]] Number with_avx512(unsigned rounds)
{
    return chains_of<Number>(rounds);
}

template <typename Number> [[gnu::target("avx2,fma")]] Number with_avx2(unsigned rounds)
{
    return chains_of<Number>(rounds);
}

[[gnu::target("avx2")]] std::uint64_t read_with_avx2(const std::uint64_t *numbers, std::size_t count)
{
    return sum_of(numbers, count);
}
#endif

/* @type: f32 or f64; @half and @nothing: as numbers of that type. */
std::string ptx_of(const std::string &type, const std::string &half, const std::string &nothing)
{
    std::string text = ".version 6.4\n.target sm_70\n.address_size 64\n"
                       ".visible .entry ptsched_multiply_add(.param .u64 unwritten, .param .u32 rounds)\n{\n"
                       ".reg .pred more, negative;\n.reg ." +
                       type +
                       " x<8>, half;\n.reg .b32 left, number;\n.reg .b64 to;\n"
                       "ld.param.u64 to, [unwritten];\nld.param.u32 left, [rounds];\nmov.u32 number, %tid.x;\n"
                       "cvt.rn." +
                       type + ".u32 x0, number;\nmov." + type + " half, " + half + ";\n";
    const auto step = [&](const char *what, unsigned to, unsigned a, const std::string &b) {
        text += std::string(what) + type + " x" + std::to_string(to) + ", x" + std::to_string(a) + ", " + b + ";\n";
    };
    for (unsigned i = 1; i < 8; i++)
        step("add.", i, i - 1, "half");
    text += "again:\n";
    for (unsigned round = 0; round < 4; round++)
        for (unsigned i = 0; i < 8; i++)
            step("fma.rn.", i, i, "half, half");
    text += "sub.u32 left, left, 1;\nsetp.ne.u32 more, left, 0;\n@more bra again;\n";
    for (unsigned i = 1; i < 8; i++)
        step("add.", 0, 0, "x" + std::to_string(i));
    /* It is positive, which the compiler does not know. */
    text +=
        "setp.lt." + type + " negative, x0, " + nothing + ";\n@negative st.global." + type + " [to], x0;\nret;\n}\n";
    return text;
}

} // namespace

template <typename Number> double operations_of_round()
{
    return 2.0 * chains * steps * (vector_bytes / sizeof(Number));
}

template <typename Number> Number multiply_add(unsigned rounds)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512f"))
        return with_avx512<Number>(rounds);
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return with_avx2<Number>(rounds);
#endif
    return chains_of<Number>(rounds);
}

template float multiply_add<float>(unsigned rounds);
template double multiply_add<double>(unsigned rounds);
template double operations_of_round<float>();
template double operations_of_round<double>();

std::uint64_t read(const std::uint64_t *numbers, std::size_t count)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2"))
        return read_with_avx2(numbers, count);
#endif
    return sum_of(numbers, count);
}

std::unique_ptr<device::Code> multiply_add_kernel(device::Device &gpu, bool twice)
{
    const std::string text =
        twice ? ptx_of("f64", "0d3FE0000000000000", "0d0000000000000000") : ptx_of("f32", "0f3F000000", "0f00000000");
    /* With the zero at the end, as the driver takes text. */
    return device::cuda_code_from_image(gpu, std::as_bytes(std::span(text.c_str(), text.size() + 1)),
                                        "ptsched_multiply_add");
}

} // namespace ptsched::spmd::model
