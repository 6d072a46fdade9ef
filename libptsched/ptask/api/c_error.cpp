// SPDX-License-Identifier: MIT
#include "libptsched/ptask/api/c_error.hpp"

#include <ptsched/ptask.h>

namespace {

thread_local std::string error_text;

} // namespace

int ptsched::ptask::fail(int error, const std::string &text) noexcept
{
    try {
        error_text = text;
    } catch (const std::bad_alloc &) {
        error_text.clear();
    }
    return -error;
}

const char *ptask_error_text(void)
{
    return error_text.c_str();
}
