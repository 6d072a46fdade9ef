// SPDX-License-Identifier: MIT
#include "tools/ptcryptfs/volume/volume_header.hpp"

#include <ptsched/base/error.hpp>

#include <charconv>
#include <nlohmann/json.hpp>

namespace ptcryptfs {

namespace {

using nlohmann::json;
using ptsched::Error;

constexpr int version = 1;
constexpr const char *cipher = "AES-256-XTS, sectors of 4096 bytes";
/* More than that is no derivation that somebody has chosen. */
constexpr std::uint64_t most_n = 1 << 24;
constexpr std::uint32_t most_r = 64, most_p = 64;

std::string hex(ConstBytes bytes)
{
    std::string text;
    for (const std::byte byte : bytes) {
        text += "0123456789abcdef"[std::to_integer<unsigned>(byte >> 4)];
        text += "0123456789abcdef"[std::to_integer<unsigned>(byte & std::byte{15})];
    }
    return text;
}

std::vector<std::byte> bytes_of(const std::string &hex)
{
    std::vector<std::byte> bytes(hex.size() / 2);
    for (std::size_t i = 0; i < bytes.size(); i++) {
        const char *const at = hex.data() + 2 * i;
        unsigned value = 0;
        if (std::from_chars(at, at + 2, value, 16).ptr != at + 2)
            throw Error("a number is not in hexadecimal");
        bytes[i] = static_cast<std::byte>(value);
    }
    return bytes;
}

json object_of(const VolumeHeader &header)
{
    const Scrypt &scrypt = header.scrypt;
    return {{"version", version},
            {"cipher", cipher},
            {"scrypt", {{"n", scrypt.n}, {"r", scrypt.r}, {"p", scrypt.p}, {"salt", hex(header.salt)}}}};
}

std::string checksum(const json &object)
{
    const std::string text = object.dump();
    return hex(checksum_of(std::as_bytes(std::span(text))));
}

VolumeHeader header_in(const json &object)
{
    VolumeHeader header;
    const json &scrypt = object.at("scrypt");
    scrypt.at("n").get_to(header.scrypt.n);
    scrypt.at("r").get_to(header.scrypt.r);
    scrypt.at("p").get_to(header.scrypt.p);
    header.salt = bytes_of(scrypt.at("salt").get<std::string>());
    header.sealed_key = bytes_of(object.at("key").get<std::string>());
    if (header.scrypt.n > most_n || header.scrypt.r > most_r || header.scrypt.p > most_p)
        throw Error("scrypt's numbers are larger than any that make sense");
    return header;
}

} // namespace

std::string VolumeHeader::covered() const
{
    return object_of(*this).dump();
}

std::string VolumeHeader::text() const
{
    json object = object_of(*this);
    object["key"] = hex(sealed_key);
    object["checksum"] = checksum(object);
    return object.dump(2) + "\n";
}

VolumeHeader VolumeHeader::parse(const std::string &text)
{
    json object = json::parse(text, nullptr, false);
    if (!object.is_object() || !object.contains("checksum"))
        throw Error("it is no JSON object with a checksum");
    const json said = object["checksum"];
    object.erase("checksum");
    if (said != checksum(object))
        throw Error("its checksum is another than that of what it says");
    if (object.value("version", 0) != version || object.value("cipher", "") != cipher)
        throw Error("it is of version " + object.value("version", json()).dump() + ", and this is for version " +
                    std::to_string(version) + ", " + cipher);
    try {
        return header_in(object);
    } catch (const json::exception &error) {
        throw Error(error.what());
    }
}

} // namespace ptcryptfs
