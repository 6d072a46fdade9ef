/* SPDX-License-Identifier: MIT */
/* Errno and a text for exceptions: what functions of the libraries' C interfaces return. */
#ifndef PTSCHED_BASE_C_ERROR_HPP
#define PTSCHED_BASE_C_ERROR_HPP

#include <ptsched/base/error.hpp>

#include <cerrno>
#include <initializer_list>
#include <new>
#include <string>
#include <utility>

namespace ptsched {

/* Returns -@error; error_text() is @text for this thread. Each library has texts of its own. */
int fail(int error, const char *text) noexcept;
const char *error_text() noexcept;

/* What @function returns, or the errno of what it throws: a @Failure is no fault of the call. */
template <typename Failure, typename Function> int attempt(Function function)
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

/* Throws Error for what a function of the program's has returned, unless that is 0; a negative errno has a text. */
void throw_if_refused(int error);

/* The names of those members that are not null, with "and" between them. */
std::string names_of_set(std::initializer_list<std::pair<const char *, const void *>> members);

} // namespace ptsched

#endif /* PTSCHED_BASE_C_ERROR_HPP */
