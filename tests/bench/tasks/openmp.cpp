// SPDX-License-Identifier: MIT
/* The only file that is compiled with -fopenmp. */
#include "tests/bench/tasks/measure.hpp"

namespace ptsched::bench_tasks {

double openmp_ns(std::vector<unsigned long> &values, unsigned long count, unsigned threads)
{
    double ns = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
    {
        const auto begin = std::chrono::steady_clock::now();
        for (unsigned long task = 0; task < count; task++) {
            const unsigned long *const read = &values[read_by(task)];
            unsigned long *const changed = &values[changed_by(task)];
#pragma omp task depend(in : *read) depend(inout : *changed)
            *changed += *read + 1;
        }
#pragma omp taskwait
        ns = nanoseconds_since(begin) / static_cast<double>(count);
    }
    return ns;
}

} // namespace ptsched::bench_tasks
