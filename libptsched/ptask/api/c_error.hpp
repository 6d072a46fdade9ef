/* SPDX-License-Identifier: MIT */
/* What functions of ptask.h return for exceptions. */
#ifndef PTSCHED_PTASK_API_C_ERROR_HPP
#define PTSCHED_PTASK_API_C_ERROR_HPP

#include "libptsched/base/c_error.hpp"
#include <ptsched/ptask/graph.hpp>

namespace ptsched::ptask {

using ptsched::fail;
using ptsched::needed;
using ptsched::throw_if_refused;

template <typename Function> int attempt(Function function)
{
    return ptsched::attempt<Failure>(std::move(function));
}

} // namespace ptsched::ptask

#endif /* PTSCHED_PTASK_API_C_ERROR_HPP */
