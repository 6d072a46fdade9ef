// SPDX-License-Identifier: MIT
#include "libptsched/base/c_error.hpp"

#include <cstring>

namespace {

thread_local std::string text_of_thread;

} // namespace

int ptsched::fail(int error, const char *text) noexcept
{
    try {
        text_of_thread = text;
    } catch (const std::bad_alloc &) {
        text_of_thread.clear();
    }
    return -error;
}

const char *ptsched::error_text() noexcept
{
    return text_of_thread.c_str();
}

void ptsched::throw_if_refused(int error)
{
    if (error)
        throw Error("the function returned " + std::to_string(error) +
                    (error < 0 ? std::string(", ") + std::strerror(-error) : ""));
}

std::string ptsched::names_of_set(std::initializer_list<std::pair<const char *, const void *>> members)
{
    std::string names;
    for (const auto &[name, value] : members)
        if (value)
            names += (names.empty() ? "" : " and ") + std::string(name);
    return names;
}
