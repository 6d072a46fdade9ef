// SPDX-License-Identifier: MIT
#include "samples/spmd/common/ranks.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <omp.h>
#include <thread>

namespace ptsched::samples {

Ranks::Ranks(int argc, char **argv)
{
    int provided = 0, here = 1;
    MPI_Comm host = MPI_COMM_NULL;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &count_);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &host);
    MPI_Comm_rank(host, &rank_here_);
    MPI_Comm_size(host, &here);
    MPI_Comm_free(&host);
    threads_ = std::max(1U, std::thread::hardware_concurrency() / static_cast<unsigned>(here));
    omp_set_num_threads(static_cast<int>(threads_));
}

Ranks::~Ranks()
{
    if (ends_mpi_)
        MPI_Finalize();
}

/* MPI's own barrier tries again and again, on a core that another rank may need. */
void Ranks::meet() const
{
    if (!is_patient_) {
        MPI_Barrier(comm_);
        return;
    }
    MPI_Request all_here = MPI_REQUEST_NULL;
    int are_here = 0;
    MPI_Ibarrier(comm_, &all_here);
    while (MPI_Test(&all_here, &are_here, MPI_STATUS_IGNORE), !are_here)
        std::this_thread::sleep_for(std::chrono::microseconds(100));
}

int run_ranks(const Ranks &ranks, int argc, char **argv, const std::string &name, const std::string &what,
              const std::function<void(const Settings &, Report &)> &run, std::vector<Choice> choices)
{
    bool cpu = false, says_more = false;
    choices.push_back({"--cpu", nullptr, "no GPU has a part: there need not be one", {}, nullptr, &cpu});
    choices.push_back({"--report", nullptr, "says what some more runs by spmd were like", {}, nullptr, &says_more});
    if (!ranks.is_first() && !std::freopen("/dev/null", "w", stdout))
        return 1;
    const auto run_one = [&](Settings settings, Report &report) {
        settings.cpu = cpu;
        settings.report = says_more;
        run(settings, report);
        if (!ranks.is_first())
            report.clear();
    };
    const int status = run_program(argc, argv, name, what, run_one, choices);
    if (status && ranks.count() > 1)
        MPI_Abort(MPI_COMM_WORLD, status);
    return status;
}

} // namespace ptsched::samples
