// SPDX-License-Identifier: MIT
#include "tools/ptsched/elf.hpp"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <optional>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace ptsched {

namespace {

/* A file in memory, every access checked: it may be anything. */
class File {
public:
    explicit File(const std::string &path)
    {
        int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
        struct stat info;

        if (fd < 0)
            return;
        if (!fstat(fd, &info) && S_ISREG(info.st_mode) && info.st_size > 0) {
            void *data = mmap(nullptr, static_cast<std::size_t>(info.st_size), PROT_READ, MAP_PRIVATE, fd, 0);
            if (data != MAP_FAILED) {
                data_ = static_cast<const char *>(data);
                size_ = static_cast<std::size_t>(info.st_size);
            }
        }
        close(fd);
    }
    File(const File &) = delete;
    File &operator=(const File &) = delete;
    ~File()
    {
        if (data_)
            munmap(const_cast<char *>(data_), size_);
    }

    template <typename T> std::optional<T> read(std::uint64_t offset) const
    {
        T value;
        if (offset > size_ || size_ - offset < sizeof(value))
            return std::nullopt;
        std::memcpy(&value, data_ + offset, sizeof(value));
        return value;
    }

    std::string text(std::uint64_t offset, std::size_t most = 256) const
    {
        if (offset >= size_)
            return {};
        return {data_ + offset, strnlen(data_ + offset, std::min<std::size_t>(most, size_ - offset))};
    }

private:
    const char *data_ = nullptr;
    std::size_t size_ = 0;
};

#if defined(__x86_64__)
constexpr std::uint16_t own_machine = EM_X86_64;
#elif defined(__aarch64__)
constexpr std::uint16_t own_machine = EM_AARCH64;
#else
constexpr std::uint16_t own_machine = EM_NONE;
#endif

std::optional<ElfW(Ehdr)> read_header(const File &file)
{
    auto header = file.read<ElfW(Ehdr)>(0);
    if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
        return std::nullopt;
    return header;
}

bool is_native(const ElfW(Ehdr) & header)
{
    return header.e_ident[EI_CLASS] == (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) &&
           (own_machine == EM_NONE || header.e_machine == own_machine);
}

std::string interpreter_of(const File &file)
{
    std::string line = file.text(2);
    line.erase(std::min(line.find('\n'), line.size()));
    std::size_t begin = line.find_first_not_of(" \t");
    if (begin == std::string::npos)
        return {};
    return line.substr(begin, line.find_first_of(" \t", begin) - begin);
}

} // namespace

Linking linking_of(const std::string &path, std::string &interpreter)
{
    File file(path);

    if (file.text(0, 2) == "#!") {
        interpreter = interpreter_of(file);
        return Linking::Script;
    }
    auto header = read_header(file);
    if (!header)
        return Linking::Unknown;
    if (!is_native(*header))
        return Linking::Foreign;
    for (unsigned int i = 0; i < header->e_phnum; i++) {
        auto segment = file.read<ElfW(Phdr)>(header->e_phoff + std::uint64_t{i} * header->e_phentsize);
        if (segment && segment->p_type == PT_INTERP)
            return file.text(segment->p_offset).find("/ld-musl-") == std::string::npos ? Linking::Dynamic
                                                                                       : Linking::Musl;
    }
    return Linking::Static;
}

std::set<std::string> exported_symbols(const std::string &path)
{
    std::set<std::string> names;
    File file(path);
    auto header = read_header(file);

    if (!header || !is_native(*header))
        return names;
    auto section = [&](unsigned int index) {
        return file.read<ElfW(Shdr)>(header->e_shoff + std::uint64_t{index} * header->e_shentsize);
    };
    for (unsigned int i = 0; i < header->e_shnum; i++) {
        auto table = section(i);
        if (!table || table->sh_type != SHT_DYNSYM || table->sh_entsize != sizeof(ElfW(Sym)))
            continue;
        auto strings = section(table->sh_link);
        if (!strings)
            continue;
        for (std::uint64_t at = 0; at + sizeof(ElfW(Sym)) <= table->sh_size; at += sizeof(ElfW(Sym))) {
            auto symbol = file.read<ElfW(Sym)>(table->sh_offset + at);
            if (!symbol)
                break;
            if (symbol->st_shndx != SHN_UNDEF)
                names.insert(file.text(strings->sh_offset + symbol->st_name));
        }
    }
    names.erase("");
    return names;
}

} // namespace ptsched
