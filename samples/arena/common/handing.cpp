// SPDX-License-Identifier: MIT
#include "samples/arena/common/handing.hpp"

namespace ptsched::samples {

std::map<std::string, double> HandedWindow::counts() const
{
    const arena::State state = window_.state();
    constexpr double ms = 1000;
    return {{"faults", static_cast<double>(state.read_faults + state.write_faults)},
            {"twins", static_cast<double>(state.twins)},
            {"different-words", static_cast<double>(state.different_words)},
            {"pages-to-gpu", static_cast<double>(state.to_gpus)},
            {"pages-to-host", static_cast<double>(state.to_host)},
            {"faults_ms", ms * state.fault_seconds},
            {"differences_ms", ms * state.difference_seconds},
            {"page-copies_ms", ms * state.copy_seconds}};
}

} // namespace ptsched::samples
