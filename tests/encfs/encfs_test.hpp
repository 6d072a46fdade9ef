/* SPDX-License-Identifier: MIT */
/* The encrypted file system without the kernel: what is stored, and how. */
#ifndef ENCFS_TEST_HPP
#define ENCFS_TEST_HPP

#include "tests/vgpu/tap.h"
#include "tools/ptcryptfs/store/stored_file.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <random>
#include <stdlib.h>

namespace test {

using namespace ptcryptfs;

std::vector<tap::Case> crypt_cases();
std::vector<tap::Case> choosing_cases();
std::vector<tap::Case> volume_cases();
std::vector<tap::Case> store_cases();
std::vector<tap::Case> crash_cases();
std::vector<tap::Case> error_cases();

/* A key is found in no time with it. */
constexpr Scrypt fast{16, 1, 1};

inline ConstBytes text(std::string_view from)
{
    return std::as_bytes(std::span(from));
}

/* A folder of its own, which goes with it. */
class Folder {
public:
    Folder()
    {
        if (!mkdtemp(name_.data()))
            throw std::runtime_error("no folder in /tmp");
    }
    ~Folder() { std::filesystem::remove_all(name_); }
    Folder(const Folder &) = delete;
    Folder &operator=(const Folder &) = delete;
    std::filesystem::path path() const { return name_; }

private:
    std::string name_ = "/tmp/ptcryptfs-test-XXXXXX";
};

/* Whether it throws, with all of these words. */
template <typename Function> bool refused(Function function, const std::vector<std::string> &words)
{
    try {
        function();
    } catch (const std::exception &error) {
        const std::string said = error.what();
        for (const std::string &word : words)
            if (said.find(word) == said.npos) {
                std::printf("# it says: %s\n", said.c_str());
                return false;
            }
        return true;
    }
    std::printf("# no error\n");
    return false;
}

/* A volume and an engine that tests have in common. */
const Volume &volume();
Engine &engine();

/* A file in memory, in pages of 4096 bytes. */
class Memory : public Backing {
public:
    void read(std::uint64_t at, Bytes to) const override
    {
        std::ranges::fill(to, std::byte{0});
        if (at < bytes_.size())
            std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(at), std::min(to.size(), bytes_.size() - at),
                        to.begin());
    }
    void write(std::uint64_t at, ConstBytes from) override
    {
        bytes_.resize(std::max<std::size_t>(bytes_.size(), at + from.size()));
        std::ranges::copy(from, bytes_.begin() + static_cast<std::ptrdiff_t>(at));
    }
    std::uint64_t size() const override { return bytes_.size(); }
    bool has_data(std::uint64_t at) const override
    {
        return std::ranges::any_of(bytes_.begin() + static_cast<std::ptrdiff_t>(std::min(at, bytes_.size())),
                                   bytes_.end(), [](std::byte byte) { return byte != std::byte{0}; });
    }
    void resize(std::uint64_t size) override { bytes_.resize(size); }
    void punch(std::uint64_t at, std::uint64_t bytes) override
    {
        const std::uint64_t end = std::min<std::uint64_t>(at + bytes, bytes_.size());
        if (at < end)
            std::fill(bytes_.begin() + static_cast<std::ptrdiff_t>(at),
                      bytes_.begin() + static_cast<std::ptrdiff_t>(end), std::byte{0});
    }
    std::vector<std::byte> &bytes() { return bytes_; }

private:
    std::vector<std::byte> bytes_;
};

/* All of it, where that is no more than tests write. */
inline std::vector<std::byte> content_of(StoredFile &file)
{
    const Content content = file.read(0, 100 * sector_bytes);
    return {content.bytes.begin(), content.bytes.end()};
}

/* Chooses what is tried. Each run of a test does the same. */
class Random {
public:
    explicit Random(unsigned seed) : engine_(seed) {}
    std::uint64_t below(std::uint64_t end) { return std::uniform_int_distribution<std::uint64_t>(0, end - 1)(engine_); }
    bool coin() { return below(2); }
    std::vector<std::byte> bytes(std::size_t count)
    {
        std::vector<std::byte> made(count);
        for (std::byte &byte : made)
            byte = static_cast<std::byte>(below(256));
        return made;
    }
    /* Mostly near the border of a sector. */
    std::uint64_t place(std::uint64_t sectors)
    {
        const std::uint64_t near = below(sectors) * sector_bytes + below(5);
        return coin() ? near - std::min<std::uint64_t>(near, 2) : below(sectors * sector_bytes);
    }

private:
    std::mt19937_64 engine_;
};

/* What a file does, and a plain vector beside it. */
struct Change {
    enum { write, resize, punch, kinds } kind;
    std::uint64_t at, bytes;
    std::vector<std::byte> data;

    static Change any(Random &random, std::uint64_t sectors)
    {
        Change change{static_cast<decltype(kind)>(random.below(kinds)),
                      random.place(sectors),
                      random.coin() ? random.below(9) : random.below(3 * sector_bytes),
                      {}};
        if (change.kind == write)
            change.data = random.bytes(change.bytes);
        return change;
    }
    void make(StoredFile &file) const
    {
        if (kind == write)
            file.write(at, data);
        else if (kind == resize)
            file.resize(at);
        else
            file.punch(at, bytes);
    }
    void make(std::vector<std::byte> &model) const
    {
        if (kind == resize)
            model.resize(at);
        else if (kind == write && bytes)
            model.resize(std::max<std::uint64_t>(model.size(), at + bytes));
        if (kind == write)
            std::ranges::copy(data,
                              model.begin() + static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(at, model.size())));
        const std::uint64_t end = std::min<std::uint64_t>(at + bytes, model.size());
        if (kind == punch && at < end)
            std::fill(model.begin() + static_cast<std::ptrdiff_t>(at), model.begin() + static_cast<std::ptrdiff_t>(end),
                      std::byte{0});
    }
};

} // namespace test

#endif /* ENCFS_TEST_HPP */
