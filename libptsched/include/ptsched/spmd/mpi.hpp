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

} // namespace ptsched::spmd::mpi

#pragma GCC visibility pop

#endif /* PTSCHED_SPMD_MPI_HPP */
