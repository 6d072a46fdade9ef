// SPDX-License-Identifier: MIT
#include "tools/ptcryptfs/store/stored_file.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <system_error>

namespace ptcryptfs {

namespace {

/* What is punched in a file is written so many bytes at a time where it is not whole sectors. */
constexpr std::array<std::byte, sector_bytes> zeros{};

/* A header of zeros is none, too. */
bool is_hole(ConstBytes sector)
{
    return std::ranges::equal(sector, zeros);
}

} // namespace

void require_size(std::uint64_t at, std::uint64_t bytes)
{
    if (at > most_size || bytes > most_size - at)
        throw std::system_error(EFBIG, std::generic_category());
}

/* Nobody asks for the key of a file of size 0. */
const Secret &StoredFile::key()
{
    const std::lock_guard guard(key_->mutex);
    if (!key_->key)
        key_->key = key_of_file(volume_, header());
    return *key_->key;
}

FileHeader StoredFile::header() const
{
    FileHeader header;
    backing_.read(0, header);
    return header;
}

/*
 * A crash may leave a new file with no header or a part of it, or with its size and a header of zeros, as contents are
 * written later than sizes beneath. Sectors that are there need the header that is lost.
 */
bool StoredFile::lacks_header() const
{
    return backing_.size() < header_bytes || (is_hole(header()) && !backing_.has_data(stored_at(0)));
}

/* Who writes is alone, and needs no lock to see whether there is a key. */
const Secret &StoredFile::key_for_writing()
{
    if (!key_->key && lacks_header())
        backing_.write(0, make_file_header(volume_));
    return key();
}

/* Sectors as they are in plain text. */
void StoredFile::fetch(std::uint64_t sector, Bytes to)
{
    backing_.read(stored_at(sector), to);
    while (!to.empty()) {
        std::size_t bytes = 0;
        while (bytes < to.size() && !is_hole(to.subspan(bytes, sector_bytes)))
            bytes += sector_bytes;
        if (bytes)
            engine_.decrypt(key(), sector, to.first(bytes));
        else
            bytes = sector_bytes;
        sector += bytes / sector_bytes;
        to = to.subspan(bytes);
    }
}

void StoredFile::put(std::uint64_t sector, ConstBytes sectors, Bytes encrypted)
{
    engine_.encrypt(key_for_writing(), sector, sectors, encrypted);
    backing_.write(stored_at(sector), encrypted);
}

Content StoredFile::read(std::uint64_t at, std::size_t bytes)
{
    const std::shared_lock guard(lock_);
    const std::uint64_t whole = size();
    Content content;
    if (at >= whole || !bytes)
        return content;
    bytes = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, whole - at));
    /* Holes need no key, but they stand for zeros only if the file has its header. */
    key();
    const std::uint64_t first = at / sector_bytes, end = sectors_of(at + bytes);
    content.memory = engine_.buffer((end - first) * sector_bytes);
    fetch(first, content.memory.bytes());
    content.bytes = content.memory.bytes().subspan(at % sector_bytes, bytes);
    return content;
}

void StoredFile::write(std::uint64_t at, ConstBytes from)
{
    const std::unique_lock guard(lock_);
    if (from.empty())
        return;
    require_size(at, from.size());
    const std::uint64_t before = size(), end = at + from.size();
    if (end <= before) {
        write_now(at, from);
        return;
    }
    grow(before, end);
    try {
        write_now(at, from);
    } catch (...) {
        /* There is no room, say: it has not grown then. */
        shrink(before);
        throw;
    }
}

/* Of a sector that is changed and put back, what a shorter file has left behind its end is not. */
void StoredFile::clear_behind_end(std::uint64_t sector, Bytes content) const
{
    const std::uint64_t begin = sector * sector_bytes, whole = size();
    if (whole < begin + sector_bytes)
        std::ranges::fill(content.subspan(whole - std::min(whole, begin)), std::byte{0});
}

void StoredFile::fetch_to_change(std::uint64_t sector, Bytes to)
{
    fetch(sector, to);
    clear_behind_end(sector, to);
}

/* Of sectors that are not whole, the rest stays. */
void StoredFile::write_now(std::uint64_t at, ConstBytes from)
{
    const std::uint64_t first = at / sector_bytes, end = sectors_of(at + from.size());
    const Buffer buffer = engine_.buffer((end - first) * sector_bytes);
    const Bytes sectors = buffer.bytes();
    if (at % sector_bytes == 0 && from.size() % sector_bytes == 0) {
        put(first, from, sectors);
        return;
    }
    if (at % sector_bytes)
        fetch_to_change(first, sectors.first(sector_bytes));
    if ((at + from.size()) % sector_bytes && (end - first > 1 || at % sector_bytes == 0))
        fetch_to_change(end - 1, sectors.last(sector_bytes));
    /* std::ranges::copy() of gcc 12 would move a byte at a time. */
    std::memcpy(sectors.data() + at % sector_bytes, from.data(), from.size());
    put(first, sectors, sectors);
}

void StoredFile::resize(std::uint64_t wanted)
{
    const std::unique_lock guard(lock_);
    require_size(wanted, 0);
    const std::uint64_t before = size();
    if (wanted > before)
        grow(before, wanted);
    else if (wanted < before)
        shrink(wanted);
}

void StoredFile::extend(std::uint64_t wanted)
{
    const std::unique_lock guard(lock_);
    require_size(wanted, 0);
    if (const std::uint64_t before = size(); wanted > before)
        grow(before, wanted);
}

/* What a shorter file has left behind its end in the last sector would come to light. */
void StoredFile::grow(std::uint64_t from, std::uint64_t size)
{
    key_for_writing();
    if (from % sector_bytes)
        zero(from, sectors_of(from) * sector_bytes);
    backing_.resize(stored_size(size));
}

/* Behind the last sector nothing may be left but zeros, which are there already if it stays the last one. */
void StoredFile::shrink(std::uint64_t wanted)
{
    if (sectors_of(size()) > sectors_of(wanted))
        backing_.resize(stored_at(sectors_of(wanted)));
    if (wanted % sector_bytes)
        backing_.resize(stored_size(wanted));
}

/* Of one sector. Where there are zeros already, nothing is written. */
void StoredFile::zero(std::uint64_t at, std::uint64_t end)
{
    std::array<std::byte, sector_bytes> before;
    fetch(at / sector_bytes, before);
    std::array after = before;
    clear_behind_end(at / sector_bytes, after);
    std::ranges::fill(Bytes(after).subspan(at % sector_bytes, end - at), std::byte{0});
    if (before != after)
        put(at / sector_bytes, after, after);
}

void StoredFile::punch(std::uint64_t at, std::uint64_t bytes)
{
    const std::unique_lock guard(lock_);
    require_size(at, bytes);
    const std::uint64_t end = std::min(at + bytes, size());
    if (at >= end)
        return;
    const std::uint64_t first = sectors_of(at), last = end / sector_bytes;
    if (first > last) {
        zero(at, end);
        return;
    }
    if (at % sector_bytes)
        zero(at, first * sector_bytes);
    if (first < last)
        backing_.punch(stored_at(first), (last - first) * sector_bytes);
    if (end % sector_bytes)
        zero(last * sector_bytes, end);
}

} // namespace ptcryptfs
