/* SPDX-License-Identifier: MIT */
/* What the tests of arenas share. Kernels have addresses of their own here (tests/vgpu/README.rst). */
#ifndef TEST_ARENA_CASES_HPP
#define TEST_ARENA_CASES_HPP

#include "tests/arena/nodes.h"
#include "tests/vgpu/daemon.h"
#include "tests/vgpu/refused.h"
#include "tests/vgpu/tap.h"
#include <ptsched/arena.hpp>
#include <ptsched/device/allocation.hpp>

namespace test {

namespace arena = ptsched::arena;
namespace device = ptsched::device;
using arena::Arena;
using arena::Side;
using arena::Window;

/* Of each file of this folder. */
std::vector<tap::Case> pages_cases();
std::vector<tap::Case> heap_cases();
std::vector<tap::Case> window_cases();
std::vector<tap::Case> kernel_cases();
std::vector<tap::Case> ownership_cases();
std::vector<tap::Case> sync_cases();
std::vector<tap::Case> turn_cases();
std::vector<tap::Case> c_cases();

/* As large as tests need it. */
constexpr std::size_t window_bytes = 256 << 20;
inline arena::Options small(arena::Memory memory = arena::Memory::copies)
{
    arena::Options options;
    options.bytes = window_bytes;
    options.memory = memory;
    return options;
}

/* What kernels.cu was compiled to. */
inline std::string kernels_file;

/* Kernels of kernels.cu on the first GPU, one after another. */
class Kernels {
public:
    void run(const char *name, const device::Geometry &geometry, const std::vector<void *> &arguments)
    {
        const auto code = device::cuda_code(*device::gpus().at(0), kernels_file, name);
        queue_->run(*code, geometry, arguments);
        queue_->finish();
    }
    /* The sum of a list's values. */
    unsigned long long walk(Node *list, unsigned add)
    {
        auto *sum = static_cast<unsigned long long *>(out_.host_address());
        run("walk", {}, {&list, &add, &sum});
        return *sum;
    }
    /* Memory that both sides have, outside of windows: 64 KiB of zeros. */
    template <typename T> T *out()
    {
        std::fill_n(static_cast<char *>(out_.host_address()), out_.bytes(), 0);
        return static_cast<T *>(out_.host_address());
    }

private:
    std::unique_ptr<device::Queue> queue_ = device::gpus().at(0)->make_queue();
    device::Allocation out_ = device::Allocation::pinned(64 << 10);
};

} // namespace test

#endif /* TEST_ARENA_CASES_HPP */
