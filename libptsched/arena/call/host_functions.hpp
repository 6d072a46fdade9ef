/* SPDX-License-Identifier: MIT */
/* Functions of the host that kernels may call, by name and signature. */
#ifndef PTSCHED_ARENA_CALL_HOST_FUNCTIONS_HPP
#define PTSCHED_ARENA_CALL_HOST_FUNCTIONS_HPP

#include "libptsched/base/lock.hpp"
#include <ptsched/arena/call.hpp>

#include <deque>
#include <shared_mutex>
#include <unordered_map>

namespace ptsched::arena::detail {

/* What is the library's own has names that begin so. */
inline constexpr char own_prefix[] = "ptsched.";

struct HostFunction {
    HostFunction(std::string of_name, const SignatureOf &of_signature, Invoke to_invoke, Waits whether_it_waits)
        : name(std::move(of_name)), signature(of_signature.text), argument_bytes(of_signature.argument_bytes),
          result_bytes(of_signature.result_bytes), pointers(of_signature.pointers.begin(), of_signature.pointers.end()),
          returns_pointer(of_signature.returns_pointer), invoke(std::move(to_invoke)), waits(whether_it_waits)
    {
    }

    std::string name, signature;
    unsigned argument_bytes, result_bytes;
    std::vector<PointerAt> pointers;
    bool returns_pointer;
    Invoke invoke;
    Waits waits;
};

/* As an error says it. */
std::string describe(const std::string &name, std::string_view signature);

/* The part of the jump table that is the host's: by number, from 1 on, and by key. Thread-safe. */
class HostFunctions {
public:
    /* With all that are registered. Throws Error if two have one name. */
    HostFunctions();

    /* Throws Error if there is one of that name, or it cannot be called by kernels. */
    void add(HostFunction function);
    /* Null: there is none. They stay where they are. */
    const HostFunction *by_key(std::uint64_t key) const;
    const HostFunction *by_number(unsigned number) const;
    /* 0: there is none of that name. */
    unsigned number(const std::string &name) const;
    /* What there is, but for the library's own. */
    std::string list() const;

private:
    mutable std::shared_mutex mutex_;
    std::deque<HostFunction> functions_;
    std::unordered_map<std::uint64_t, unsigned> by_key_;
    std::unordered_map<std::string, unsigned> by_name_;
};

/* log, read_file, allocate and deallocate of call.cuh. */
void add_ready_made(HostFunctions &functions, const CallOptions &options);

} // namespace ptsched::arena::detail

#endif /* PTSCHED_ARENA_CALL_HOST_FUNCTIONS_HPP */
