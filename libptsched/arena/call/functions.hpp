/* SPDX-License-Identifier: MIT */
/* The functions that a file of kernels lists. */
#ifndef PTSCHED_ARENA_CALL_FUNCTIONS_HPP
#define PTSCHED_ARENA_CALL_FUNCTIONS_HPP

#include <ptsched/arena/call.hpp>

namespace ptsched::arena::detail {

class Functions {
public:
    /* As CallOptions say. Throws Error if there is no such list, or it is of another version. */
    using Make = std::function<std::unique_ptr<device::Code>(device::Device &, const std::string &name)>;
    Functions(device::Device &gpu, const Make &make, const std::string &table);

    std::size_t size() const { return all_.size(); }
    const FunctionText &operator[](std::size_t number) const { return all_[number]; }
    /* From 0 on; size(): there is none. */
    std::size_t find(const std::string &name) const;
    std::string list() const;
    /* The most that arguments or results need, in bytes. */
    unsigned most_bytes() const;
    bool operator==(const Functions &other) const;

private:
    std::vector<FunctionText> all_;
};

} // namespace ptsched::arena::detail

#endif /* PTSCHED_ARENA_CALL_FUNCTIONS_HPP */
