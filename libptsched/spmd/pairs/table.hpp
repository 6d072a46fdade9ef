/* SPDX-License-Identifier: MIT */
/* Pairs that are combined as they come. */
#ifndef PTSCHED_SPMD_PAIRS_TABLE_HPP
#define PTSCHED_SPMD_PAIRS_TABLE_HPP

#include <ptsched/spmd/program.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace ptsched::spmd {

/* Of a key's bytes: the same in all processes of a job, whatever machine they run on. */
std::uint64_t hash_of(std::string_view key);

/* One value for each key: what comes for a key that it has is added by the program's combine. Not thread-safe. */
class Table final : public Sink {
public:
    /* @program, which combines, outlives it. */
    explicit Table(const Program &program);

    void emit(std::string_view key, std::string_view value) override;
    std::size_t size() const { return keys_.size(); }
    std::size_t footprint() const;
    /* All of it, in any order; it is empty then. */
    Pairs take();

private:
    struct Slot {
        std::uint32_t hash = 0;
        std::uint32_t place = 0; /* of the key, from 1 on; 0: free */
    };

    void add_new(Slot &slot, std::uint32_t hash, std::string_view key, std::string_view value);
    void grow();

    const Program &program_;
    std::vector<Slot> slots_;
    Column keys_, values_;
    std::vector<std::string> strings_; /* the values, where their width is any */
    std::size_t string_bytes_ = 0;
};

} // namespace ptsched::spmd

#endif /* PTSCHED_SPMD_PAIRS_TABLE_HPP */
