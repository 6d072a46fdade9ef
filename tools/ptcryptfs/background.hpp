/* SPDX-License-Identifier: MIT */
#ifndef PTCRYPTFS_BACKGROUND_HPP
#define PTCRYPTFS_BACKGROUND_HPP

#include <functional>

namespace ptcryptfs {

/*
 * Runs @work in another process, and returns 0 as soon as that has called what it is given, or its exit status if it
 * ends without. Until then it has the terminal as its parent has; after that it is of a session of its own, without
 * standard streams. To be called before there are threads, or secrets: locked memory is one process's.
 */
int run_in_background(const std::function<int(const std::function<void()> &begun)> &work);

} // namespace ptcryptfs

#endif /* PTCRYPTFS_BACKGROUND_HPP */
