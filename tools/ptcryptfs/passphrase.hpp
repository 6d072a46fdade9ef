/* SPDX-License-Identifier: MIT */
#ifndef PTCRYPTFS_PASSPHRASE_HPP
#define PTCRYPTFS_PASSPHRASE_HPP

#include "tools/ptcryptfs/crypt/secret.hpp"

#include <string>

namespace ptcryptfs {

/*
 * The first line of @file, without its end; where that is empty, what somebody types at the terminal after @question,
 * which is not shown, or, where standard input is no terminal, its first line. Throws Error if there is none, or it is
 * empty.
 */
Secret read_passphrase(const std::string &file, const std::string &question);
/* Of a new one: it is asked for twice at a terminal. */
Secret read_new_passphrase(const std::string &file);

} // namespace ptcryptfs

#endif /* PTCRYPTFS_PASSPHRASE_HPP */
