/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_SPMD_INPUT_SOURCE_HPP
#define PTSCHED_SPMD_INPUT_SOURCE_HPP

#include "libptsched/spmd/schedule/range.hpp"
#include <ptsched/spmd/input.hpp>

#include <string>

namespace ptsched::spmd::detail {

/* Bytes of the input that stay where they are as long as @keeper lives. */
struct Fetched {
    const std::byte *data = nullptr;
    std::shared_ptr<const void> keeper = {};
};

/* An input. Thread-safe. */
class Source {
public:
    explicit Source(Records records) : records_(std::move(records)) {}
    virtual ~Source() = default;

    virtual std::uint64_t bytes() const = 0;
    /* Of whole records. */
    virtual Fetched fetch(const schedule::Range &range) const = 0;
    /* As schedule::Border. Throws Error if a record is longer than it may be. */
    virtual std::uint64_t border(std::uint64_t at) const;
    /* Its bytes are made when they are fetched, which takes a while. */
    virtual bool is_made() const { return false; }
    /* Of each record; 0: they have separators. */
    std::size_t record_bytes() const { return records_.bytes; }

protected:
    const Records records_;
};

} // namespace ptsched::spmd::detail

#endif /* PTSCHED_SPMD_INPUT_SOURCE_HPP */
