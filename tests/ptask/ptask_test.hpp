/* SPDX-License-Identifier: MIT */
#ifndef PTASK_TEST_HPP
#define PTASK_TEST_HPP

#include "ptask.hpp"

#include "daemon.h"
#include "refused.h"
#include "tap.h"

#include <algorithm>
#include <chrono>

namespace test {

using namespace ptsched::ptask;
using namespace std::chrono_literals;

inline std::string ptask_kernels()
{
    return folder() + "/ptask-kernels.so";
}

template <typename T> DatablockPtr block_of(const std::vector<T> &values)
{
    return Datablock::of(std::span(values));
}

template <typename T> std::vector<T> content(const DatablockPtr &block)
{
    if (!CHECK(block))
        return {};
    auto values = block->as<T>();
    return {values.begin(), values.end()};
}

template <typename T> std::vector<T> pulled(Output &output)
{
    return content<T>(output.pull());
}

using Cases = std::vector<tap::Case>;

Cases inout_cases();
Cases size_cases();
Cases loop_cases();
Cases signal_cases();
Cases mode_cases();
Cases arbiter_cases();
Cases draw_cases();
Cases lower_cases();
Cases constant_cases();

} // namespace test

#endif /* PTASK_TEST_HPP */
