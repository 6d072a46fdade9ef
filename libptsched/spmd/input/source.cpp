// SPDX-License-Identifier: MIT
#include "libptsched/spmd/input/source.hpp"

#include <ptsched/base/error.hpp>
#include <ptsched/base/fd.hpp>

#include <algorithm>
#include <cstring>
#include <sys/mman.h>
#include <sys/stat.h>
#include <vector>

namespace ptsched::spmd {
namespace detail {
namespace {

/* Where a record ends is looked for byte by byte. */
class InMemory final : public Source {
public:
    InMemory(std::string name, std::span<const std::byte> bytes, std::shared_ptr<const void> keeper, Records records)
        : Source(std::move(records)), name_(std::move(name)), bytes_(bytes), keeper_(std::move(keeper))
    {
        if (records_.bytes == 0 && records_.separators.empty())
            throw Error(name_ + " has records without a size or a separator (say Records::lines() or fixed(bytes))");
        if (records_.bytes > 0 && bytes_.size() % records_.bytes != 0)
            throw Error(name_ + " has " + std::to_string(bytes_.size()) + " bytes, which are no whole records of " +
                        std::to_string(records_.bytes));
    }

    std::uint64_t bytes() const override { return bytes_.size(); }
    Fetched fetch(const schedule::Range &range) const override { return {bytes_.data() + range.begin, keeper_}; }
    std::uint64_t border(std::uint64_t at) const override
    {
        if (records_.bytes > 0)
            return Source::border(at);
        if (at == 0 || at >= bytes_.size())
            return std::min<std::uint64_t>(at, bytes_.size());
        /* The byte before may be the end of a record. */
        const std::string_view rest(reinterpret_cast<const char *>(bytes_.data()) + at - 1, bytes_.size() - at + 1);
        const std::string_view seen = rest.substr(0, records_.longest);
        const std::size_t end = seen.find_first_of(records_.separators);
        if (end != seen.npos)
            return at + end;
        if (seen.size() == rest.size())
            return bytes_.size();
        throw Error(name_ + ": the record at byte " + std::to_string(at - 1) + " has no end within " +
                    std::to_string(records_.longest) +
                    " bytes, which is as long as one may be (Records::longest, and the separators, say so)");
    }

private:
    const std::string name_;
    const std::span<const std::byte> bytes_;
    const std::shared_ptr<const void> keeper_;
};

class Generated final : public Source {
public:
    Generated(std::uint64_t count, std::size_t bytes, Input::Make make)
        : Source(Records::fixed(bytes)), count_(count), make_(std::move(make))
    {
    }

    std::uint64_t bytes() const override { return count_ * records_.bytes; }
    bool is_made() const override { return true; }
    Fetched fetch(const schedule::Range &range) const override
    {
        const std::shared_ptr<std::byte[]> made(new std::byte[range.size()]);
        make_(range.begin / records_.bytes, {made.get(), range.size()});
        return {made.get(), made};
    }

private:
    const std::uint64_t count_;
    const Input::Make make_;
};

/* Nothing that is mapped is written: the mapping lives as long as anybody has it. */
std::shared_ptr<const void> map_file(int fd, std::size_t bytes, const std::string &path)
{
    void *const at = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED)
        throw Error("cannot map " + path + ": " + std::strerror(errno));
    return {at, [bytes](const void *mapped) { munmap(const_cast<void *>(mapped), bytes); }};
}

} // namespace

std::uint64_t Source::border(std::uint64_t at) const
{
    const std::uint64_t size = records_.bytes;
    return std::min((at + size - 1) / size * size, bytes());
}

} // namespace detail

Input Input::memory(std::span<const std::byte> bytes, Records records)
{
    return Input(std::make_shared<detail::InMemory>("the input in memory", bytes, nullptr, std::move(records)));
}

Input Input::file(const std::string &path, Records records)
{
    const UniqueFd fd = above_streams(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat status {};
    if (!fd || fstat(fd.get(), &status) < 0)
        throw Error("cannot open " + path + ": " + std::strerror(errno));
    if (!S_ISREG(status.st_mode))
        throw Error(path + " is not a regular file, and others cannot be split between ranks");
    const auto size = static_cast<std::size_t>(status.st_size);
    std::shared_ptr<const void> mapped = size > 0 ? detail::map_file(fd.get(), size, path) : nullptr;
    const std::span bytes(static_cast<const std::byte *>(mapped.get()), size);
    return Input(std::make_shared<detail::InMemory>(path, bytes, std::move(mapped), std::move(records)));
}

Input Input::generated(std::uint64_t count, std::size_t bytes, Make make)
{
    if (bytes == 0 || !make)
        throw Error("generated input needs records of at least one byte, and a function that makes them");
    if (count > ~std::uint64_t{0} / bytes)
        throw Error("generated input has more than 2^64 bytes");
    return Input(std::make_shared<detail::Generated>(count, bytes, std::move(make)));
}

std::uint64_t Input::bytes() const
{
    return source_ ? source_->bytes() : 0;
}

} // namespace ptsched::spmd
