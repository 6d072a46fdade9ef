// SPDX-License-Identifier: MIT
#include "samples/spmd/common/weak.hpp"

#include <omp.h>

namespace ptsched::samples {

namespace {

/* What OpenMP does in this thread is done by it alone. */
class OneThread {
public:
    OneThread() { omp_set_num_threads(1); }
    ~OneThread() { omp_set_num_threads(before_); }
    OneThread(const OneThread &) = delete;
    OneThread &operator=(const OneThread &) = delete;

private:
    const int before_ = omp_get_max_threads();
};

std::vector<std::unique_ptr<Way>> make_all(const std::vector<NamedWay> &ways)
{
    std::vector<std::unique_ptr<Way>> made;
    for (const NamedWay &named : ways)
        made.push_back(named.make());
    return made;
}

std::string row_of(const std::string &way, int ranks, const std::string &name)
{
    const std::string kind = way == "gpu" || way == "cuda" ? "weak/" : "weak-cpu/",
                      end = way == "openmp" || way == "cuda" ? "/hand" : "";
    return kind + std::to_string(ranks) + "/" + name + end;
}

void check_all(const std::vector<std::unique_ptr<Way>> &ways)
{
    for (const auto &way : ways)
        way->check();
}

} // namespace

void time_weak(const Ranks &all, const Settings &settings, Report &report, const std::string &name,
               const std::vector<NamedWay> &alone, const std::vector<NamedWay> &together)
{
    if (all.count() == 1)
        throw Error("--weak compares one rank with several: mpirun -np 4 in front of the program starts four");
    const OneThread one_thread;
    const auto parts = make_all(alone), wholes = make_all(together);
    std::vector<std::vector<double>> found(together.size());
    for (unsigned round = 0; round <= settings.rounds(); round++)
        for (std::size_t i = 0; i < together.size(); i++) {
            const double of_one = all.is_first() ? milliseconds_of(*parts[i]) : 0;
            all.meet();
            const double of_all = milliseconds_of(*wholes[i]);
            if (round > 0) /* what is made at the first use, is */
                found[i].push_back(of_one / of_all);
        }
    check_all(parts);
    check_all(wholes);
    for (std::size_t i = 0; i < together.size() && !settings.check; i++)
        report.record(row_of(together[i].name, all.count(), name), spread_of(found[i]), "",
                      "time of one rank with its part / of all");
}

} // namespace ptsched::samples
