/* SPDX-License-Identifier: MIT */
#ifndef PTCRYPTFS_STORE_BACKING_HPP
#define PTCRYPTFS_STORE_BACKING_HPP

#include "tools/ptcryptfs/crypt/secret.hpp"

#include <cstdint>

namespace ptcryptfs {

/* What stores a file. All throw std::system_error. */
class Backing {
public:
    virtual ~Backing() = default;
    /* As many bytes as there are; what is behind the end is zero. */
    virtual void read(std::uint64_t at, Bytes to) const = 0;
    virtual void write(std::uint64_t at, ConstBytes from) = 0;
    virtual std::uint64_t size() const = 0;
    /* Whether there may be anything but holes from @at on. */
    virtual bool has_data(std::uint64_t at) const = 0;
    virtual void resize(std::uint64_t size) = 0;
    /* Zeros that take no room, where that can be had; the size stays. */
    virtual void punch(std::uint64_t at, std::uint64_t bytes) = 0;
};

/* A file that is open for reading, and for writing where that is to be done. The descriptor stays the caller's. */
class FileBacking final : public Backing {
public:
    explicit FileBacking(int fd) : fd_(fd) {}
    void read(std::uint64_t at, Bytes to) const override;
    void write(std::uint64_t at, ConstBytes from) override;
    std::uint64_t size() const override;
    bool has_data(std::uint64_t at) const override;
    void resize(std::uint64_t size) override;
    void punch(std::uint64_t at, std::uint64_t bytes) override;

private:
    const int fd_;
};

} // namespace ptcryptfs

#endif /* PTCRYPTFS_STORE_BACKING_HPP */
