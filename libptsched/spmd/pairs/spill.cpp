// SPDX-License-Identifier: MIT
#include "libptsched/spmd/pairs/spill.hpp"

#include "libptsched/spmd/pairs/wire.hpp"
#include <ptsched/base/error.hpp>

#include <cerrno>
#include <cstring>
#include <fcntl.h>

namespace ptsched::spmd {
namespace {

std::string folder_or_default(std::string folder)
{
    if (!folder.empty())
        return folder;
    const char *const named = std::getenv("TMPDIR");
    return named && *named ? named : "/tmp";
}

[[noreturn]] void fail(const std::string &what, const std::string &folder, int error)
{
    throw Error(what + " a file for pairs in " + folder + ": " + std::strerror(error) +
                " (Options::folder or TMPDIR name another folder, Options::memory is what stays out of it)");
}

} // namespace

Spill::Spill(std::size_t memory, std::string folder) : memory_(memory), folder_(folder_or_default(std::move(folder))) {}

bool Spill::reserve(std::size_t bytes)
{
    if (used_.fetch_add(bytes, std::memory_order_relaxed) + bytes <= memory_)
        return true;
    release(bytes);
    return false;
}

int Spill::file()
{
    const Guard guard(opening_);
    if (file_)
        return file_.get();
    file_ = above_streams(open(folder_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
    if (!file_ && (errno == EOPNOTSUPP || errno == EISDIR)) {
        std::string name = folder_ + "/ptsched-spmd-XXXXXX";
        file_ = above_streams(mkostemp(name.data(), O_CLOEXEC));
        if (file_)
            unlink(name.c_str());
    }
    if (!file_)
        fail("cannot make", folder_, errno);
    return file_.get();
}

std::uint64_t Spill::write(const Buffer &bytes)
{
    const int fd = file();
    const std::uint64_t at = end_.fetch_add(bytes.size(), std::memory_order_relaxed);
    for (std::size_t done = 0; done < bytes.size();) {
        const ssize_t written = pwrite(fd, bytes.data() + done, bytes.size() - done, static_cast<off_t>(at + done));
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            fail("cannot write " + std::to_string(bytes.size()) + " bytes to", folder_, written ? errno : ENOSPC);
        done += static_cast<std::size_t>(written);
    }
    return at;
}

void Spill::read(std::uint64_t at, std::byte *to, std::size_t bytes)
{
    const int fd = file();
    for (std::size_t done = 0; done < bytes;) {
        const ssize_t got = pread(fd, to + done, bytes - done, static_cast<off_t>(at + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            fail("cannot read from", folder_, got ? errno : EIO);
        done += static_cast<std::size_t>(got);
    }
}

/* Where the file system has no holes, the file stays as long as it is. */
void Spill::forget(std::uint64_t at, std::size_t bytes)
{
    [[maybe_unused]] const int result = fallocate(file(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                                                  static_cast<off_t>(at), static_cast<off_t>(bytes));
}

Chunk::Chunk(std::shared_ptr<Spill> spill, Pairs pairs)
    : spill_(std::move(spill)), size_(pairs.size()), bytes_(pairs.bytes()), pairs_(std::move(pairs))
{
    if (size_ > 0) {
        first_key_ = pairs_.keys[0];
        last_key_ = pairs_.keys[size_ - 1];
    }
    const std::size_t wanted = pairs_.footprint();
    if (spill_->reserve(wanted)) {
        reserved_ = wanted;
        return;
    }
    Buffer packed;
    pack(pairs_, packed);
    at_ = spill_->write(packed);
    packed_ = packed.size();
    pairs_ = Pairs(pairs_.keys.width(), pairs_.values.width());
}

Chunk::Chunk(Chunk &&other) noexcept : pairs_(other.pairs_.keys.width(), other.pairs_.values.width())
{
    *this = std::move(other);
}

Chunk &Chunk::operator=(Chunk &&other) noexcept
{
    std::swap(spill_, other.spill_);
    std::swap(size_, other.size_);
    std::swap(bytes_, other.bytes_);
    std::swap(reserved_, other.reserved_);
    std::swap(at_, other.at_);
    std::swap(packed_, other.packed_);
    std::swap(pairs_, other.pairs_);
    std::swap(first_key_, other.first_key_);
    std::swap(last_key_, other.last_key_);
    return *this;
}

Chunk::~Chunk()
{
    drop();
}

void Chunk::drop()
{
    if (!spill_)
        return;
    spill_->release(std::exchange(reserved_, 0));
    if (packed_ > 0)
        spill_->forget(at_, std::exchange(packed_, 0));
}

Pairs Chunk::take()
{
    Pairs empty(pairs_.keys.width(), pairs_.values.width());
    if (packed_ > 0) {
        Buffer packed;
        spill_->read(at_, packed.grow(packed_), packed_);
        pairs_ = unpack({packed.data(), packed.size()}, empty.keys.width(), empty.values.width());
    }
    drop();
    std::swap(empty, pairs_);
    size_ = bytes_ = 0;
    return empty;
}

} // namespace ptsched::spmd
