// SPDX-License-Identifier: MIT
#include "tools/ptcryptfs/crypt/secret.hpp"

#include <ptsched/base/error.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <openssl/crypto.h>
#include <string>
#include <sys/resource.h>

namespace ptcryptfs {

namespace {

/* A key of 64 bytes for each file that is open: 8,000 of them. OpenSSL takes powers of two. */
constexpr std::size_t all_bytes = 1 << 20, least_bytes = 64;

/*
 * Keys of requests under way are outside of that memory, too: expanded, where OpenSSL and a GPU's driver have them. A
 * limit of 1 is too small for a core file, and Linux takes it for none where a program is to get the core, which it
 * does not of 0 (fs/coredump.c). PR_SET_DUMPABLE would also make /proc/PID root's, by which a scheduler knows whose it
 * is.
 */
void leave_no_core()
{
    /* EPERM: it is 0, and may not be raised. */
    const rlimit limit{1, 1};
    if (setrlimit(RLIMIT_CORE, &limit) < 0 && errno != EPERM)
        throw ptsched::Error(std::string("core dumps cannot be forbidden: ") + std::strerror(errno));
}

} // namespace

void prepare_secrets()
{
    leave_no_core();
    if (CRYPTO_secure_malloc_initialized())
        return;
    /* 2: there is memory, but it could not be locked. */
    if (CRYPTO_secure_malloc_init(all_bytes, least_bytes) != 1)
        throw ptsched::Error("1 MiB of memory for keys cannot be locked: 'ulimit -l' is to allow 1024 at least");
}

Secret::Secret(std::size_t bytes) : data_(static_cast<std::byte *>(OPENSSL_secure_zalloc(bytes))), bytes_(bytes)
{
    if (!data_)
        throw ptsched::Error("there is no more locked memory for keys: too many files are open");
}

Secret::Secret(std::string_view text) : Secret(text.size())
{
    std::ranges::copy(std::as_bytes(std::span(text)), data_);
}

Secret::~Secret()
{
    OPENSSL_secure_clear_free(data_, bytes_);
}

} // namespace ptcryptfs
