/* SPDX-License-Identifier: MIT */
/* What functions of hand.cu, which are of C, return. */
#ifndef SAMPLES_COMMON_TRY_TO_HPP
#define SAMPLES_COMMON_TRY_TO_HPP

#include <exception>
#include <string>

namespace ptsched::samples {

/* What went wrong, which stays until the thread's next call, or null. */
template <typename Function> const char *try_to(Function function)
{
    thread_local std::string wrong;
    try {
        function();
        return nullptr;
    } catch (const std::exception &error) {
        wrong = error.what();
        return wrong.c_str();
    }
}

} // namespace ptsched::samples

#endif /* SAMPLES_COMMON_TRY_TO_HPP */
