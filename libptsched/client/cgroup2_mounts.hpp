/* SPDX-License-Identifier: MIT */
/* Where the hierarchy of cgroups is mounted. Only tools ask, and they ask once. */
#ifndef PTSCHED_CLIENT_CGROUP2_MOUNTS_HPP
#define PTSCHED_CLIENT_CGROUP2_MOUNTS_HPP

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace ptsched {

struct Cgroup2Mount {
    std::string point;
    std::string root; /* the name of the cgroup that is seen there; "/": all of them */
};

/* The kernel writes spaces and the like, and backslashes, as \ooo. */
inline std::string unescape_mount(const std::string &text)
{
    std::string plain;
    for (std::size_t i = 0; i < text.size(); i++) {
        const bool is_escape = text[i] == '\\' && i + 3 < text.size();
        plain += is_escape ? static_cast<char>(std::stoi(text.substr(i + 1, 3), nullptr, 8)) : text[i];
        i += is_escape ? 3 : 0;
    }
    return plain;
}

/* In the order of mounting. */
inline std::vector<Cgroup2Mount> cgroup2_mounts()
{
    std::vector<Cgroup2Mount> found;
    std::ifstream file("/proc/self/mountinfo");
    for (std::string line; std::getline(file, line);) {
        if (line.find(" - cgroup2 ") == line.npos)
            continue;
        std::istringstream fields(line);
        std::string skipped, root, point;
        fields >> skipped >> skipped >> skipped >> root >> point;
        found.push_back({unescape_mount(point), unescape_mount(root)});
    }
    return found;
}

} // namespace ptsched

#endif
