/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_TASKS_SEEN_OUTPUT_HPP
#define PTSCHED_TASKS_SEEN_OUTPUT_HPP

#include <cstdio>
#include <memory>
#include <string>

namespace ptsched::tasks {

/* A file that is opened when a runtime is made, so that it is refused if it cannot be, and written when that ends. */
class Output {
public:
    /* What is there goes. Throws Error; @option names what asks for it. */
    Output(const std::string &option, const std::string &path);
    void write(const std::string &text) noexcept;
    /* It is whole; otherwise that is logged. */
    void close() noexcept;

private:
    void complain(int error) noexcept;

    struct Close {
        void operator()(std::FILE *file) const { std::fclose(file); }
    };

    const std::string path_;
    std::unique_ptr<std::FILE, Close> file_;
};

} // namespace ptsched::tasks

#endif /* PTSCHED_TASKS_SEEN_OUTPUT_HPP */
