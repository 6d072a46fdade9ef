/* SPDX-License-Identifier: MIT */
#ifndef PTCRYPTFS_GPU_GPU_ENGINE_HPP
#define PTCRYPTFS_GPU_GPU_ENGINE_HPP

#include "tools/ptcryptfs/crypt/engine.hpp"

namespace ptcryptfs {

/*
 * On a GPU, by a ptask graph for each request that is under way at the same time. Its turns are ptsched's where there
 * is a scheduler, and those of the process that is served, so that no request waits for one of less weight. Throws
 * Error without a GPU.
 */
std::unique_ptr<Engine> make_gpu_engine();

} // namespace ptcryptfs

#endif /* PTCRYPTFS_GPU_GPU_ENGINE_HPP */
