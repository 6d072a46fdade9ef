/* SPDX-License-Identifier: MIT */
/* What the tests of calls share. */
#ifndef TEST_ARENA_CALL_CASES_HPP
#define TEST_ARENA_CALL_CASES_HPP

#include "tests/arena/call/types.h"
#include "tests/vgpu/daemon.h"
#include "tests/vgpu/refused.h"
#include "tests/vgpu/tap.h"
#include <ptsched/arena/call.hpp>
#include <ptsched/device/allocation.hpp>

namespace test {

namespace arena = ptsched::arena;
namespace device = ptsched::device;

/* Of each file of this folder. */
std::vector<tap::Case> basic_cases();
std::vector<tap::Case> host_cases();
std::vector<tap::Case> error_cases();
std::vector<tap::Case> window_cases();
std::vector<tap::Case> turn_cases();
std::vector<tap::Case> c_cases();
std::vector<tap::Case> program_cases();
/* For a process of its own, whose first argument is that. */
inline constexpr char fault_argument[] = "fault";
std::vector<tap::Case> fault_cases();

/* On the first GPU, with few blocks: they share the processors of this machine. */
inline arena::CallOptions options_for(unsigned blocks = 4)
{
    arena::CallOptions options;
    options.kernel = [](device::Device &gpu, const std::string &name) {
        return device::cuda_code(gpu, folder() + "/arena-call.so", name);
    };
    options.threads = 32;
    options.blocks = blocks;
    return options;
}

/* Memory that both sides reach. */
template <typename T> class Common {
public:
    explicit Common(std::size_t count) : memory_(device::Allocation::pinned(count * sizeof(T)))
    {
        for (std::size_t i = 0; i < count; i++)
            get()[i] = T{};
    }
    T *get() const { return static_cast<T *>(memory_.host_address()); }
    T &operator*() const { return *get(); }

private:
    const device::Allocation memory_;
};

} // namespace test

#endif /* TEST_ARENA_CALL_CASES_HPP */
