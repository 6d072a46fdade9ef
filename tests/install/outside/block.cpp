// SPDX-License-Identifier: MIT
/* A datablock without a graph; what is thrown is caught by the type that the headers declare. */
#include <ptsched/device/datablock.hpp>

#include <iostream>
#include <vector>

struct Long {
    int numbers[3];
};

int main()
{
    using ptsched::device::Datablock;
    const auto block = Datablock::of(std::vector<int>{40, 2});

    try {
        block->as<Long>();
    } catch (const ptsched::Error &) {
        const auto view = block->as<int>();
        std::cout << view[0] + view[1] << "\n";
        return 0;
    }
    return 1;
}
