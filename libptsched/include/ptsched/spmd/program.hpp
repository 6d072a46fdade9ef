/* SPDX-License-Identifier: MIT */
/* A job's functions without their types. Its makers are the templates of <ptsched/spmd.hpp>. */
#ifndef PTSCHED_SPMD_PROGRAM_HPP
#define PTSCHED_SPMD_PROGRAM_HPP

#include <ptsched/spmd/gpu.hpp>
#include <ptsched/spmd/pairs.hpp>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)

namespace ptsched::spmd {

/* Whole records that lie behind one another, for a map function. What it points to stays until that returns. */
struct Block {
    const std::byte *data = nullptr;
    std::size_t bytes = 0;
    std::uint64_t first = 0;                    /* the number of its first record in the input */
    std::uint64_t records = 0;                  /* 0 where records have a separator: nobody has counted them */
    std::uint64_t offset = 0;                   /* of its first byte in the input */
    std::span<const std::byte> parameters = {}; /* of this run of an iterative job */

    std::string_view text() const { return {reinterpret_cast<const char *>(data), bytes}; }
    /* Records of a fixed size, as their type. */
    template <typename T> std::span<const T> as() const
    {
        return {reinterpret_cast<const T *>(data), bytes / sizeof(T)};
    }
    /* The parameters, as their type. */
    template <typename T> std::span<const T> parameters_as() const
    {
        return {reinterpret_cast<const T *>(parameters.data()), parameters.size() / sizeof(T)};
    }
};

/* Where a map function's pairs go. */
class Sink {
public:
    virtual void emit(std::string_view key, std::string_view value) = 0;

protected:
    ~Sink() = default;
};

/* How keys are compared before anything else; those that are equal then are compared as bytes. */
enum class Order : std::uint8_t {
    bytes,            /* as memcmp() does, the shorter one first */
    unsigned_numbers, /* of 1, 2, 4 or 8 bytes */
    signed_numbers,
    real_numbers, /* float or double */
    by_function,  /* Program::before */
};

/*
 * What a job does, for one kind of keys and values. Functions are called by several threads at a time, each with a
 * block, pair or key of its own, and may throw: that ends the job.
 */
struct Program {
    std::string name = "job";
    std::size_t key_width = 0, value_width = 0; /* any_width: byte strings */

    std::function<void(const Block &, Sink &)> map = {};
    /* Adds a value to @into, of the values' width; where that is any, to the string. One of the two, or neither. */
    std::function<void(std::byte *into, const std::byte *value)> combine = {};
    std::function<void(std::string &into, std::string_view value)> combine_strings = {};
    /* All values of a key, from @first on, as one, which is appended to @to. Without it all pairs are results. */
    std::function<void(std::string_view key, const Column &values, std::size_t first, std::size_t count, Column &to)>
        reduce = {};
    Order order = Order::bytes;
    /* For Order::by_function: whether one key comes before another. */
    std::function<bool(std::string_view, std::string_view)> before = {};
    GpuFunctions gpu = {};

    bool combines() const { return combine || combine_strings; }
    bool on_cpu() const { return map != nullptr; }
    bool on_gpu() const { return gpu.any(); }
};

} // namespace ptsched::spmd

#pragma GCC visibility pop

#endif /* PTSCHED_SPMD_PROGRAM_HPP */
