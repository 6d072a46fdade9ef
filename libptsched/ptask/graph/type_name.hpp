/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_PTASK_GRAPH_TYPE_NAME_HPP
#define PTSCHED_PTASK_GRAPH_TYPE_NAME_HPP

#include <cstdlib>
#include <cxxabi.h>
#include <memory>
#include <string>
#include <typeinfo>

namespace ptsched::ptask {

/* As programs write it. */
inline std::string type_name(const std::type_info &type)
{
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> name(abi::__cxa_demangle(type.name(), nullptr, nullptr, &status),
                                                           &std::free);
    return name ? name.get() : type.name();
}

} // namespace ptsched::ptask

#endif /* PTSCHED_PTASK_GRAPH_TYPE_NAME_HPP */
