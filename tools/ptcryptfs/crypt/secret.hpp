/* SPDX-License-Identifier: MIT */
#ifndef PTCRYPTFS_CRYPT_SECRET_HPP
#define PTCRYPTFS_CRYPT_SECRET_HPP

#include <cstddef>
#include <span>
#include <string_view>
#include <utility>

namespace ptcryptfs {

using Bytes = std::span<std::byte>;
using ConstBytes = std::span<const std::byte>;

/*
 * Before the first Secret, in the process that is to have them: memory for them is locked, is in no core dump, and has
 * pages around it that nobody can touch; and the process leaves no core at all. A child has a copy whose pages are not
 * locked. Throws Error that says which limit does not allow it.
 */
void prepare_secrets();

/* Bytes of a key or a passphrase, in that memory; wiped when it ends. Throws Error where there is no more of it. */
class Secret {
public:
    Secret() = default;
    explicit Secret(std::size_t bytes);
    explicit Secret(std::string_view text);
    Secret(Secret &&other) noexcept : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0))
    {
    }
    Secret &operator=(Secret &&other) noexcept
    {
        std::swap(data_, other.data_);
        std::swap(bytes_, other.bytes_);
        return *this;
    }
    ~Secret();

    Bytes bytes() { return {data_, bytes_}; }
    ConstBytes bytes() const { return {data_, bytes_}; }

private:
    std::byte *data_ = nullptr;
    std::size_t bytes_ = 0;
};

} // namespace ptcryptfs

#endif /* PTCRYPTFS_CRYPT_SECRET_HPP */
