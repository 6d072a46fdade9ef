// SPDX-License-Identifier: MIT
#include "samples/tasks/taskbench/pattern.hpp"

namespace ptsched::taskbench {

const char *to_string(Pattern pattern)
{
    constexpr const char *names[] = {"trivial", "stencil", "fft", "tree", "all-to-all", "spread"};
    return names[static_cast<unsigned>(pattern)];
}

} // namespace ptsched::taskbench
