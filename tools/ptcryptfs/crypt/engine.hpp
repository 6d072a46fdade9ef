/* SPDX-License-Identifier: MIT */
/* Who encrypts: AES-256 in XTS mode (IEEE 1619), the number of a sector as its tweak. */
#ifndef PTCRYPTFS_CRYPT_ENGINE_HPP
#define PTCRYPTFS_CRYPT_ENGINE_HPP

#include "tools/ptcryptfs/crypt/secret.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace ptcryptfs {

constexpr std::size_t sector_bytes = 4096;
/* The key of the data, and behind it that of the tweak. */
constexpr std::size_t key_bytes = 64;

/* Thread-safe. Blocks until it is done. Throws Error. */
class Engine {
public:
    virtual ~Engine() = default;
    virtual std::string name() const = 0;
    /* @sectors are whole ones, which follow one another, from number @first on; they are replaced. */
    virtual void encrypt(const Secret &key, std::uint64_t first, Bytes sectors) = 0;
    virtual void decrypt(const Secret &key, std::uint64_t first, Bytes sectors) = 0;
};

/* On the caller's thread, by OpenSSL. */
std::unique_ptr<Engine> make_cpu_engine();

} // namespace ptcryptfs

#endif /* PTCRYPTFS_CRYPT_ENGINE_HPP */
