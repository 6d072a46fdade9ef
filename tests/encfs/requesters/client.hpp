/* SPDX-License-Identifier: MIT */
/* A program that has a file of the mounted file system, and makes the requests that it is told to. */
#ifndef ENCFS_REQUESTERS_CLIENT_HPP
#define ENCFS_REQUESTERS_CLIENT_HPP

namespace test {

/*
 * Each line of its input is a word and a number, of requests: "write", "read", or "read-by-thread", by a thread that is
 * not its first one. It says the line when they are done, and ends with its input; with 1 if what it reads is not what
 * it has written.
 */
int be_client(const char *path);

} // namespace test

#endif /* ENCFS_REQUESTERS_CLIENT_HPP */
