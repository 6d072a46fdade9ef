/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_BASE_NESTED_HPP
#define PTSCHED_BASE_NESTED_HPP

#include <exception>
#include <string>
#include <utility>

namespace ptsched {

/* A @Failure that says @what and, if @cause says something, that behind it; @cause is nested in it. */
template <typename Failure> std::exception_ptr nested(std::string what, std::exception_ptr cause)
{
    try {
        try {
            std::rethrow_exception(std::move(cause));
        } catch (const std::exception &error) {
            what += std::string(": ") + error.what();
            throw;
        }
    } catch (...) {
        try {
            std::throw_with_nested(Failure(what));
        } catch (...) {
            return std::current_exception();
        }
    }
}

} // namespace ptsched

#endif /* PTSCHED_BASE_NESTED_HPP */
