/* SPDX-License-Identifier: MIT */
/*
 * Ranks that are MPI's processes, which mpirun or srun starts. Link libptsched-spmd-mpi (pkg-config ptsched-spmd-mpi).
 *
 *	int main()
 *	{
 *		return spmd::mpi::main([](spmd::Cluster &cluster) {
 *			auto result = cluster.run(job);
 *			...
 *			return 0;
 *		});
 *	}
 */
#ifndef PTSCHED_SPMD_MPI_HPP
#define PTSCHED_SPMD_MPI_HPP

#include <ptsched/spmd.hpp>

#include <functional>

#pragma GCC visibility push(default)

namespace ptsched::spmd::mpi {

/*
 * All processes of MPI_COMM_WORLD, each of which calls this. Options::ranks is MPI's. Of a program that has not
 * initialised MPI itself, which then is to be with MPI_THREAD_FUNNELED at least, it is initialised here and finalised
 * when the process ends. Jobs run on the thread that has initialised it. Throws Error if MPI cannot be had so.
 *
 * MPI cannot go on without one of its processes: when one has failed, or nothing is heard of it for Options::patience,
 * jobs throw Error on all others, and the process then ends by MPI_Abort instead of MPI_Finalize, which would wait.
 */
Cluster cluster(Options options = {});

/*
 * Calls @body with cluster(@options) and returns what it returns: the program's exit status. What a job throws
 * is printed once, by one rank, to the standard error, and the status is 1 everywhere. What else it throws, one rank
 * maybe and others not, is printed, and ends all of them by MPI_Abort.
 */
int main(const std::function<int(Cluster &)> &body, Options options = {});

/*
 * Bytes per second that one node sends to another, for model::MeasureOptions::network: of the first ranks of hosts, two
 * by two at the same time, the slowest pair's. Where there is one host, it is what two of its ranks send to each other,
 * which rank 0 says on the standard error. All processes of MPI_COMM_WORLD call it, outside of jobs, and wait for one
 * another, a minute at most; MPI is initialised as by cluster(). Throws Error if there is one process alone.
 */
double network_rate();

} // namespace ptsched::spmd::mpi

/*
 * The same for programs that load the library at run time, with the rank in MPI_COMM_WORLD: 0, or -1 and a text in
 * @error, which has @room.
 */
extern "C" int ptsched_spmd_network_rate(double *rate, int *rank, char *error, std::size_t room);

#pragma GCC visibility pop

#endif /* PTSCHED_SPMD_MPI_HPP */
