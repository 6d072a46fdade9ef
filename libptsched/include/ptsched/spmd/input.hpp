/* SPDX-License-Identifier: MIT */
/* What a job reads: records in memory, in a file, or made by a function. */
#ifndef PTSCHED_SPMD_INPUT_HPP
#define PTSCHED_SPMD_INPUT_HPP

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#pragma GCC visibility push(default)

namespace ptsched::spmd {

namespace detail {
class Source;
}

/* Where one record ends and the next begins. */
struct Records {
    std::size_t bytes = 0;       /* of each; 0: there are separators */
    std::string separators = {}; /* each of these bytes ends a record, and belongs to it; the last record needs none */
    std::size_t longest = 64 << 20; /* bytes, of one with a separator: a longer one is an Error */

    static Records fixed(std::size_t bytes) { return {.bytes = bytes}; }
    static Records lines() { return {.separators = "\n"}; }
    /* Of text: a block ends behind a space, a tab or a line, so that it may well begin in the middle of a line. */
    static Records words() { return {.separators = " \t\n\v\f\r"}; }
    static Records separated(std::string_view by) { return {.separators = std::string(by)}; }
};

/*
 * Several ranks have the same input: each process that takes part gives the same file, memory of the same contents, or
 * a function that makes the same. Copies share what they read. Functions throw Error if there is no such input.
 */
class Input {
public:
    /* Writes the records from @first on to @to, which has room for whole ones. Called by several threads at a time. */
    using Make = std::function<void(std::uint64_t first, std::span<std::byte> to)>;

    Input() = default;
    /* Of the caller's memory, which stays as long as jobs use it. */
    template <typename T> static Input memory(std::span<const T> records)
    {
        static_assert(std::is_trivially_copyable_v<T>, "a record is bytes, which are no objects of that type");
        return memory(std::as_bytes(records), Records::fixed(sizeof(T)));
    }
    static Input memory(std::span<const std::byte> bytes, Records records);
    static Input text(std::string_view text, Records records = Records::lines())
    {
        return memory(std::as_bytes(std::span(text)), std::move(records));
    }
    /* Mapped into memory. It must stay as it is while jobs use it. */
    static Input file(const std::string &path, Records records);
    /* @count records of @bytes each. */
    static Input generated(std::uint64_t count, std::size_t bytes, Make make);

    /* Of all records; 0 if there is none. */
    std::uint64_t bytes() const;
    bool empty() const { return bytes() == 0; }
    const std::shared_ptr<detail::Source> &source() const { return source_; }

private:
    explicit Input(std::shared_ptr<detail::Source> source) : source_(std::move(source)) {}

    std::shared_ptr<detail::Source> source_;
};

} // namespace ptsched::spmd

#pragma GCC visibility pop

#endif /* PTSCHED_SPMD_INPUT_HPP */
