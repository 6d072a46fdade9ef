// SPDX-License-Identifier: MIT
/* What a kernel's own __shared__ variables take. They are thread_local ones of its function, and have symbols. */
#include "tests/vgpu/libcuda/runtime.h"

#include <cctype>
#include <cstring>
#include <elf.h>
#include <fstream>
#include <iterator>

namespace vgpu {

namespace {

/* A copy of what is at a place of the file; zeroes if that is not there. */
template <typename T> T at(const std::string &file, std::uint64_t offset)
{
    T value{};
    if (offset <= file.size() && sizeof(value) <= file.size() - offset)
        std::memcpy(&value, file.data() + offset, sizeof(value));
    return value;
}

/* Of "_ZZ6kernelPiE4tile": the function's name; empty for what is no variable of a function outside of namespaces. */
std::string function_of(const char *symbol)
{
    constexpr const char *prefix = "_ZZ";
    if (std::strncmp(symbol, prefix, std::strlen(prefix)) != 0)
        return {};
    char *name = nullptr;
    const char *number = symbol + std::strlen(prefix);
    if (!std::isdigit(static_cast<unsigned char>(*number)))
        return {};
    const std::size_t length = std::strtoul(number, &name, 10);
    return std::strlen(name) > length ? std::string(name, length) : std::string();
}

} // namespace

std::map<std::string, std::size_t> shared_variables(const char *path)
{
    std::ifstream stream(path, std::ios::binary);
    const std::string file((std::istreambuf_iterator<char>(stream)), {});
    const auto header = at<Elf64_Ehdr>(file, 0);
    std::map<std::string, std::size_t> bytes;

    for (unsigned int i = 0; i < header.e_shnum; i++) {
        const auto section = at<Elf64_Shdr>(file, header.e_shoff + std::uint64_t{i} * sizeof(Elf64_Shdr));
        if (section.sh_type != SHT_SYMTAB)
            continue;
        const auto names = at<Elf64_Shdr>(file, header.e_shoff + std::uint64_t{section.sh_link} * sizeof(Elf64_Shdr));
        for (std::uint64_t place = 0; place < section.sh_size; place += sizeof(Elf64_Sym)) {
            const auto symbol = at<Elf64_Sym>(file, section.sh_offset + place);
            const std::uint64_t name = names.sh_offset + symbol.st_name;
            if (ELF64_ST_TYPE(symbol.st_info) != STT_TLS || name >= file.size())
                continue;
            const std::string function = function_of(file.c_str() + name);
            if (!function.empty())
                bytes[function] += symbol.st_size;
        }
    }
    return bytes;
}

} // namespace vgpu
