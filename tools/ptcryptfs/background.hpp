/* SPDX-License-Identifier: MIT */
#ifndef PTCRYPTFS_BACKGROUND_HPP
#define PTCRYPTFS_BACKGROUND_HPP

#include "tools/ptcryptfs/crypt/secret.hpp"

#include <functional>

namespace ptcryptfs {

/*
 * Runs @work in another process, of a session of its own, to which @passphrase is handed, and returns its exit status
 * as soon as that has called what it is given: 0; or when it has ended without. Its standard streams are closed then.
 * To be called before there are threads.
 */
int run_in_background(Secret passphrase,
                      const std::function<int(Secret passphrase, std::function<void()> begun)> &work);

} // namespace ptcryptfs

#endif /* PTCRYPTFS_BACKGROUND_HPP */
