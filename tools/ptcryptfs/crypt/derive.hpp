/* SPDX-License-Identifier: MIT */
/* Keys from passphrases and from other keys, and what is sealed with them. All of it throws Error if OpenSSL fails. */
#ifndef PTCRYPTFS_CRYPT_DERIVE_HPP
#define PTCRYPTFS_CRYPT_DERIVE_HPP

#include "tools/ptcryptfs/crypt/secret.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace ptcryptfs {

/* RFC 7914's parameters: 128 * n * r bytes of memory are used. */
struct Scrypt {
    std::uint64_t n = 1 << 17;
    std::uint32_t r = 8, p = 1;
};

void fill_randomly(Bytes bytes);
Secret key_of_passphrase(ConstBytes passphrase, ConstBytes salt, const Scrypt &how, std::size_t bytes);
/* HKDF (RFC 5869) with SHA-256: other keys for other salts and purposes. */
Secret key_of_key(ConstBytes key, ConstBytes salt, std::string_view purpose, std::size_t bytes);

using Tag = std::array<std::byte, 32>;
/* HMAC with SHA-256. */
Tag tag_of(ConstBytes key, ConstBytes text);
bool same(ConstBytes one, ConstBytes other); /* in the same time, wherever they differ */
Tag checksum_of(ConstBytes text);            /* SHA-256 */

/* AES-256-GCM: a nonce, what is encrypted, and a tag, which covers @with, too. */
std::vector<std::byte> seal(ConstBytes key, ConstBytes secret, ConstBytes with);
/* None: key, @sealed or @with is another. */
std::optional<Secret> unseal(ConstBytes key, ConstBytes sealed, ConstBytes with);

} // namespace ptcryptfs

#endif /* PTCRYPTFS_CRYPT_DERIVE_HPP */
