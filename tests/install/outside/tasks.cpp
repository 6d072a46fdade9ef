// SPDX-License-Identifier: MIT
/* Two tasks of the host, the second of which needs the first, and one with what they have left. */
#include <ptsched/tasks.hpp>

#include <cstdio>
#include <vector>

int main()
{
    using namespace ptsched::tasks;
    Runtime tasks({.workers = 2});
    std::vector<int> numbers(7), twice(7);

    tasks.host(
        [](int *x) {
            for (int i = 0; i < 7; i++)
                x[i] = i;
        },
        out(numbers));
    tasks.host(
        [](const int *x, int *y) {
            for (int i = 0; i < 7; i++)
                y[i] = 2 * x[i];
        },
        in(numbers), out(twice));
    tasks.wait();
    int sum = 0;
    for (const int number : twice)
        sum += number;
    std::printf("%d\n", sum);
    return 0;
}
