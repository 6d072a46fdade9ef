/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_TOOL_JSON_HPP
#define PTSCHED_TOOL_JSON_HPP

#include <nlohmann/json.hpp>
#include <string>

namespace ptsched {

using Json = nlohmann::ordered_json;

/* Valid JSON whatever bytes a process has in its name. */
inline std::string dump_json(const Json &json, int indent = -1)
{
    return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

} // namespace ptsched

#endif /* PTSCHED_TOOL_JSON_HPP */
