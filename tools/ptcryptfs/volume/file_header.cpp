// SPDX-License-Identifier: MIT
#include "tools/ptcryptfs/volume/file_header.hpp"

#include <ptsched/base/error.hpp>

#include <algorithm>

namespace ptcryptfs {

namespace {

/* "PTCRYPT" and the version, the salt, and a tag over both; the rest is zero. */
constexpr std::size_t magic_bytes = 8, salt_bytes = 32, tag_at = magic_bytes + salt_bytes;
constexpr std::array<char, magic_bytes> magic{'P', 'T', 'C', 'R', 'Y', 'P', 'T', 1};

Tag tag_of_header(const Volume &volume, ConstBytes header)
{
    return tag_of(volume.key_for("headers of files", std::as_bytes(std::span(magic)), 32).bytes(),
                  header.first(tag_at));
}

} // namespace

FileHeader make_file_header(const Volume &volume)
{
    FileHeader header{};
    std::ranges::copy(std::as_bytes(std::span(magic)), header.begin());
    fill_randomly(Bytes(header).subspan(magic_bytes, salt_bytes));
    std::ranges::copy(tag_of_header(volume, header), header.begin() + tag_at);
    return header;
}

Secret key_of_file(const Volume &volume, const FileHeader &header)
{
    const ConstBytes all(header);
    if (!same(all.first(magic_bytes - 1), std::as_bytes(std::span(magic)).first(magic_bytes - 1)))
        throw ptsched::Error("its header is damaged, or it was not written by ptcryptfs");
    if (all[magic_bytes - 1] != static_cast<std::byte>(magic.back()))
        throw ptsched::Error("its header is of version " + std::to_string(std::to_integer<int>(all[magic_bytes - 1])) +
                             ", and this is for version " + std::to_string(magic.back()));
    if (!same(all.subspan(tag_at, sizeof(Tag)), tag_of_header(volume, header)))
        throw ptsched::Error("its header is damaged, or it is of another encrypted folder");
    return volume.key_for("sectors of a file", all.subspan(magic_bytes, salt_bytes), key_bytes);
}

} // namespace ptcryptfs
