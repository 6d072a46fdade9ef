/* SPDX-License-Identifier: MIT */
#ifndef PTCRYPTFS_CRYPT_BUFFER_HPP
#define PTCRYPTFS_CRYPT_BUFFER_HPP

#include "tools/ptcryptfs/crypt/secret.hpp"

#include <memory>

namespace ptcryptfs {

/* Memory for sectors, of the kind that an engine reaches best. What is in it at first is anything. */
class Buffer {
public:
    Buffer() = default;
    /* @owner: of the memory, which goes with the last one that has it. */
    Buffer(std::shared_ptr<void> owner, Bytes bytes) : owner_(std::move(owner)), bytes_(bytes) {}
    Bytes bytes() const { return bytes_; }

private:
    std::shared_ptr<void> owner_;
    Bytes bytes_;
};

} // namespace ptcryptfs

#endif /* PTCRYPTFS_CRYPT_BUFFER_HPP */
