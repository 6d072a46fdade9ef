// SPDX-License-Identifier: MIT
#include "libptsched/device/image.hpp"

#include <ptsched/device/device.hpp>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <cxxabi.h>
#include <elf.h>
#include <fstream>
#include <memory>
#include <optional>

namespace ptsched::device {

namespace {

constexpr std::uint32_t fat_magic = 0xba55ed50, wrapper_magic = 0x466243b1;
constexpr Elf64_Half machine_of_cuda = 190;
/* In a symbol's st_other: a kernel, not a function that kernels call. */
constexpr unsigned char cuda_entry = 0x10;

/* At the beginning of a fat binary. */
struct FatHeader {
    std::uint32_t magic;
    std::uint16_t version, header_bytes;
    std::uint64_t bytes; /* behind the header */
};

/* What nvcc gives a program for each of its fat binaries. */
struct Wrapper {
    std::uint32_t magic, version;
    const std::byte *image;
    const void *unused;
};

template <typename T> std::optional<T> read(Bytes content, std::size_t offset = 0)
{
    T value;
    if (offset > content.size() || content.size() - offset < sizeof(value))
        return {};
    std::memcpy(&value, content.data() + offset, sizeof(value));
    return value;
}

template <typename T> std::optional<T> read_if(Bytes content, std::uint32_t magic)
{
    const auto found = read<std::uint32_t>(content);
    return found && *found == magic ? read<T>(content) : std::optional<T>();
}

[[noreturn]] void cut_short(std::size_t bytes, std::size_t wanted)
{
    throw Error("an image of kernels is cut short: it has " + std::to_string(bytes) + " bytes, and would have " +
                std::to_string(wanted));
}

/* Of an image in the object format, or nothing. */
std::optional<Elf64_Ehdr> elf_of(Bytes content)
{
    if (content.size() < SELFMAG || std::memcmp(content.data(), ELFMAG, SELFMAG) != 0)
        return {};
    const auto header = read<Elf64_Ehdr>(content);
    if (!header)
        cut_short(content.size(), sizeof(Elf64_Ehdr));
    if (header->e_ident[EI_CLASS] != ELFCLASS64)
        throw Error("an image of kernels is for 32 bits: 64 would do");
    const std::size_t sections = std::size_t{header->e_shnum} * sizeof(Elf64_Shdr);
    if (header->e_shoff > content.size() || content.size() - header->e_shoff < sections)
        cut_short(content.size(), header->e_shoff + sections);
    return header;
}

Bytes fat_image(Bytes content, const FatHeader &header)
{
    const std::size_t rest = content.size() - std::min<std::size_t>(content.size(), header.header_bytes);
    if (header.bytes > rest)
        cut_short(content.size(), header.header_bytes + header.bytes);
    return content.first(header.header_bytes + header.bytes);
}

std::optional<Elf64_Shdr> section_at(Bytes content, const Elf64_Ehdr &header, std::size_t index)
{
    return index < header.e_shnum ? read<Elf64_Shdr>(content, header.e_shoff + index * sizeof(Elf64_Shdr))
                                  : std::optional<Elf64_Shdr>();
}

Bytes content_of(Bytes content, const Elf64_Shdr &section)
{
    if (section.sh_type == SHT_NOBITS || section.sh_offset > content.size() ||
        content.size() - section.sh_offset < section.sh_size)
        return {};
    return content.subspan(section.sh_offset, section.sh_size);
}

std::string text_at(Bytes texts, std::size_t offset)
{
    if (offset >= texts.size())
        return {};
    const char *text = reinterpret_cast<const char *>(texts.data()) + offset;
    return {text, strnlen(text, texts.size() - offset)};
}

template <typename Function> void for_sections(Bytes content, const Elf64_Ehdr &header, Function function)
{
    for (std::size_t i = 0; i < header.e_shnum; i++)
        if (const auto section = section_at(content, header, i))
            function(*section);
}

/* One after another, with nothing but zeros between them. */
std::vector<Bytes> fat_images(Bytes section)
{
    std::vector<Bytes> images;
    while (!section.empty()) {
        const auto header = read_if<FatHeader>(section, fat_magic);
        if (header)
            images.push_back(fat_image(section, *header));
        section = section.subspan(header ? images.back().size() : std::min(section.size(), sizeof(std::uint64_t)));
    }
    return images;
}

std::vector<Bytes> images_of_program(Bytes content, const Elf64_Ehdr &header)
{
    std::vector<Bytes> images;
    const auto names = section_at(content, header, header.e_shstrndx);
    if (names && header.e_machine != machine_of_cuda)
        for_sections(content, header, [&](const Elf64_Shdr &section) {
            if (text_at(content_of(content, *names), section.sh_name) == ".nv_fatbin")
                images = fat_images(content_of(content, section));
        });
    return images;
}

/* As a program writes it, without parameters; empty for what is no name of C++. */
std::string plain_name(const std::string &symbol)
{
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> text(
        abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
    const std::string name = text ? text.get() : "";
    return name.substr(0, name.find('('));
}

} // namespace

std::vector<Bytes> images_in(Bytes content)
{
    if (const auto wrapper = read_if<Wrapper>(content, wrapper_magic)) {
        const auto header = read_if<FatHeader>({wrapper->image, sizeof(FatHeader)}, fat_magic);
        if (!header)
            throw Error("what nvcc put into the program points to no fat binary");
        return {{wrapper->image, header->header_bytes + header->bytes}};
    }
    if (const auto header = read_if<FatHeader>(content, fat_magic))
        return {fat_image(content, *header)};
    if (const auto header = elf_of(content))
        if (auto images = images_of_program(content, *header); !images.empty())
            return images;
    return {content};
}

std::vector<std::string> images_in_program(const std::string &path)
{
    std::ifstream file(path, std::ios::binary);
    char magic[SELFMAG] = {};
    Elf64_Ehdr start = {};
    if (!file.read(reinterpret_cast<char *>(&start), sizeof(start)) ||
        std::memcmp(start.e_ident, ELFMAG, sizeof(magic)) != 0 || start.e_machine == machine_of_cuda)
        return {};
    file.seekg(0);
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    const Bytes content = std::as_bytes(std::span(text));
    const auto header = elf_of(content);
    std::vector<std::string> images;
    if (header)
        for (Bytes image : images_of_program(content, *header))
            images.emplace_back(reinterpret_cast<const char *>(image.data()), image.size());
    return images;
}

std::vector<std::string> functions_called(const std::string &function, Bytes image)
{
    std::vector<std::string> found;
    const auto header = elf_of(image);
    if (!header)
        return found;
    for_sections(image, *header, [&](const Elf64_Shdr &section) {
        const auto texts = section_at(image, *header, section.sh_link);
        if (section.sh_type != SHT_SYMTAB || !texts)
            return;
        const Bytes symbols = content_of(image, section), names = content_of(image, *texts);
        for (std::size_t at = 0; at + sizeof(Elf64_Sym) <= symbols.size(); at += sizeof(Elf64_Sym)) {
            const auto symbol = read<Elf64_Sym>(symbols, at);
            const bool is_kernel = header->e_machine != machine_of_cuda || symbol->st_other & cuda_entry;
            if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || !is_kernel)
                continue;
            const std::string name = text_at(names, symbol->st_name);
            /* With a dot, it is a part of a function. */
            if (name.find('.') == std::string::npos && (name == function || plain_name(name) == function))
                found.push_back(name);
        }
    });
    return found;
}

} // namespace ptsched::device
