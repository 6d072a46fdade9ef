/* SPDX-License-Identifier: MIT */
/* Who encrypts: AES-256 in XTS mode (IEEE 1619), the number of a sector as its tweak. */
#ifndef PTCRYPTFS_CRYPT_ENGINE_HPP
#define PTCRYPTFS_CRYPT_ENGINE_HPP

#include "tools/ptcryptfs/crypt/buffer.hpp"
#include <ptsched/base/error.hpp>

#include <cstdint>
#include <string>
#include <sys/types.h>

namespace ptcryptfs {

constexpr std::size_t sector_bytes = 4096;
/* The key of the data, and behind it that of the tweak. */
constexpr std::size_t key_bytes = 64;

/* What was to be read is as it was: somebody else can do it. */
class NotDone : public ptsched::Error {
public:
    using Error::Error;
};

/* Thread-safe. Blocks until it is done. Throws Error. */
class Engine {
public:
    virtual ~Engine() = default;
    virtual std::string name() const = 0;
    /* Throws std::bad_alloc, too. */
    virtual Buffer buffer(std::size_t bytes);
    /*
     * @from are whole sectors, which follow one another, from number @first on; @to is where they go, which has as many
     * bytes: the same memory, or none of it.
     */
    virtual void encrypt(const Secret &key, std::uint64_t first, ConstBytes from, Bytes to) = 0;
    /* @sectors are replaced, here and below. */
    void encrypt(const Secret &key, std::uint64_t first, Bytes sectors) { encrypt(key, first, sectors, sectors); }
    virtual void decrypt(const Secret &key, std::uint64_t first, Bytes sectors) = 0;
};

/* On the caller's thread, by OpenSSL. */
std::unique_ptr<Engine> make_cpu_engine();
/*
 * Each request by that one of both which has taken less time for its size lately; now and then the other one is tried.
 * Where the second one cannot do any, the first does all from then on.
 */
std::unique_ptr<Engine> make_choosing_engine(std::unique_ptr<Engine> one, std::unique_ptr<Engine> other);

/* For which process this thread's requests are; 0: its own. */
extern thread_local pid_t served_process;

} // namespace ptcryptfs

#endif /* PTCRYPTFS_CRYPT_ENGINE_HPP */
