// SPDX-License-Identifier: MIT
#include "tools/ptcryptfs/crypt/secret.hpp"

#include <ptsched/base/error.hpp>

#include <algorithm>
#include <openssl/crypto.h>

namespace ptcryptfs {

namespace {

/* A key of 64 bytes for each file that is open: 8,000 of them. OpenSSL takes powers of two. */
constexpr std::size_t all_bytes = 1 << 20, least_bytes = 64;

} // namespace

void prepare_secrets()
{
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
