/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_SPMD_OUTPUT_WHOLE_FILE_HPP
#define PTSCHED_SPMD_OUTPUT_WHOLE_FILE_HPP

#include <ptsched/base/fd.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace ptsched::spmd {

/*
 * A file that has its name only when it is whole. Until then what had that name stays, and where the file system can
 * have files without a name, nothing is left however the process ends. One thread at a time.
 */
class WholeFile {
public:
    /* Throws Error if there can be no such file. */
    explicit WholeFile(std::string path);
    /* Without publish() nothing is left of it. */
    ~WholeFile();
    WholeFile(const WholeFile &) = delete;
    WholeFile &operator=(const WholeFile &) = delete;

    /* Throws Error if the disk is full. */
    void write(std::string_view text);
    /* All of it is in the file. */
    void finish();
    /* It has its name. */
    void publish();
    std::uint64_t bytes() const { return bytes_; }

private:
    void flush();
    [[noreturn]] void fail(const char *what, int error) const;

    const std::string path_;
    std::string temporary_; /* its name so far; empty: it has none */
    UniqueFd file_;
    std::string buffer_;
    std::uint64_t bytes_ = 0;
};

} // namespace ptsched::spmd

#endif /* PTSCHED_SPMD_OUTPUT_WHOLE_FILE_HPP */
