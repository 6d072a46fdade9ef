/* SPDX-License-Identifier: MIT */
#ifndef VGPU_TEST_REFUSED_H
#define VGPU_TEST_REFUSED_H

#include <ptsched/device/device.hpp>

#include <cstdio>
#include <string>
#include <vector>

namespace test {

/* Whether it throws an Error in whose text all @words are. */
template <typename Function> bool refused(Function function, const std::vector<std::string> &words)
{
    try {
        function();
    } catch (const ptsched::device::Error &error) {
        bool all = true;
        for (const std::string &word : words)
            all = all && std::string(error.what()).find(word) != std::string::npos;
        if (!all)
            std::printf("# the error says: %s\n", error.what());
        return all;
    }
    std::printf("# no error\n");
    return false;
}

} // namespace test

#endif
