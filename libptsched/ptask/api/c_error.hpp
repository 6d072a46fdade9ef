/* SPDX-License-Identifier: MIT */
/* Errno and a text for exceptions: what functions of the C interface return. */
#ifndef PTSCHED_PTASK_API_C_ERROR_HPP
#define PTSCHED_PTASK_API_C_ERROR_HPP

#include <ptsched/ptask/graph.hpp>

#include <cerrno>
#include <new>
#include <string>

namespace ptsched::ptask {

/* Returns -@error; ptask_error_text() is @text for this thread. */
int fail(int error, const std::string &text) noexcept;

/* What @function returns, or the errno of what it throws. */
template <typename Function> int attempt(Function function)
{
    try {
        return function();
    } catch (const Failure &failure) {
        return fail(EIO, failure.what());
    } catch (const Error &error) {
        return fail(EINVAL, error.what());
    } catch (const std::bad_alloc &) {
        return fail(ENOMEM, "out of memory");
    } catch (const std::exception &error) {
        return fail(EIO, error.what());
    }
}

template <typename T> T &needed(T *pointer, const char *what)
{
    if (!pointer)
        throw Error(std::string(what) + " is NULL");
    return *pointer;
}

} // namespace ptsched::ptask

#endif /* PTSCHED_PTASK_API_C_ERROR_HPP */
