/* SPDX-License-Identifier: MIT */
#ifndef PTCRYPTFS_STORE_STORED_FILE_HPP
#define PTCRYPTFS_STORE_STORED_FILE_HPP

#include "tools/ptcryptfs/store/backing.hpp"
#include "tools/ptcryptfs/store/layout.hpp"

#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>

namespace ptcryptfs {

/* Throws EFBIG where a file would be larger than one can be. */
void require_size(std::uint64_t at, std::uint64_t bytes);

/* Plain text: @bytes of what @memory holds. */
struct Content {
    Buffer memory;
    Bytes bytes;
};

/* A file's key, from when somebody needs it. */
struct KeyOfFile {
    std::mutex mutex;
    std::optional<Secret> key;
};

/*
 * A file in plain text, whose sectors are encrypted in its backing. One that has just been made has no header: it gets
 * one before the first sector. After a crash one may have a size without it: it cannot be read then, and gets another
 * one when it is written, if no sector is stored. Sizes and places are those of the plain text, in bytes.
 *
 * A sector is replaced as a whole, so if the device under it writes 4096 bytes at once or not at all, what was synced
 * is there after a crash; and what a file grows by is zeros first, which are written then.
 *
 * Thread-safe, also with others of the same file if @lock is theirs, too: writers are alone. They may have @key in
 * common then, of which there is not room for any number. Calls throw std::system_error of the backing (EFBIG: larger
 * than a file can be), and Error if the header is damaged.
 */
class StoredFile {
public:
    StoredFile(Backing &backing, const Volume &volume, Engine &engine, std::shared_mutex &lock,
               std::shared_ptr<KeyOfFile> key = std::make_shared<KeyOfFile>())
        : backing_(backing), volume_(volume), engine_(engine), lock_(lock), key_(std::move(key))
    {
    }

    std::uint64_t size() const { return plain_size(backing_.size()); }
    /* As much of it as there is. */
    Content read(std::uint64_t at, std::size_t bytes);
    /* Grows it as far as is needed. */
    void write(std::uint64_t at, ConstBytes from);
    void resize(std::uint64_t size);
    /* Makes it no shorter. */
    void extend(std::uint64_t size);
    /* Zeros, where whole sectors are concerned without taking room; the size stays. */
    void punch(std::uint64_t at, std::uint64_t bytes);

private:
    const Secret &key();
    const Secret &key_for_writing();
    FileHeader header() const;
    bool lacks_header() const;
    void grow(std::uint64_t from, std::uint64_t size);
    void shrink(std::uint64_t size);
    void write_now(std::uint64_t at, ConstBytes from);
    void zero(std::uint64_t at, std::uint64_t end);
    void fetch(std::uint64_t sector, Bytes to);
    void clear_behind_end(std::uint64_t sector, Bytes content) const;
    void fetch_to_change(std::uint64_t sector, Bytes to);
    void put(std::uint64_t sector, ConstBytes sectors, Bytes encrypted);

    Backing &backing_;
    const Volume &volume_;
    Engine &engine_;
    std::shared_mutex &lock_;
    const std::shared_ptr<KeyOfFile> key_;
};

} // namespace ptcryptfs

#endif /* PTCRYPTFS_STORE_STORED_FILE_HPP */
