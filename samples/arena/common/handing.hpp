/* SPDX-License-Identifier: MIT */
/* How an arena goes from one side to the other: to who owns it, or shared by both. */
#ifndef SAMPLES_ARENA_COMMON_HANDING_HPP
#define SAMPLES_ARENA_COMMON_HANDING_HPP

#include "samples/arena/common/variants.hpp"
#include <ptsched/arena.hpp>

namespace ptsched::samples {

/*
 * On the first GPU. An arena that is owned begins as the host's; what kernels have written is said of these, and found
 * of those that are shared.
 */
class HandedWindow {
public:
    explicit HandedWindow(Handing handing) : handing_(handing) {}
    arena::Arena make(const char *name, std::size_t bytes)
    {
        const arena::ArenaOptions options{.name = name, .expected_bytes = bytes};
        return handing_ == Handing::owned ? window_.owned_arena(arena::Side::host(), options)
                                          : window_.shared_arena(options);
    }
    /* What the host has written, before a kernel. */
    void to_gpu(arena::Arena &handed) const
    {
        if (handing_ == Handing::owned)
            return handed.acquire_ownership(arena::Side::gpu());
        handed.release();
        handed.acquire(arena::Side::gpu());
    }
    /* What kernels, which have ended, have written. */
    void to_host(arena::Arena &handed, const std::vector<arena::Range> &written) const
    {
        if (handing_ == Handing::owned)
            return handed.acquire_ownership(arena::Side::host(), written);
        handed.release(arena::Side::gpu());
        handed.acquire();
    }
    std::map<std::string, double> counts() const;

private:
    const Handing handing_;
    arena::Window window_{{.devices = {&first_gpu()}}};
};

template <typename T> arena::Range range_of(std::span<T> things)
{
    return {things.data(), things.size_bytes()};
}

} // namespace ptsched::samples

#endif /* SAMPLES_ARENA_COMMON_HANDING_HPP */
