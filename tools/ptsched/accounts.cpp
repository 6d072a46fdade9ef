// SPDX-License-Identifier: MIT
#include "tools/ptsched/accounts.hpp"

#include "tools/ptsched/format.hpp"

#include <algorithm>
#include <filesystem>
#include <tuple>

namespace ptsched {

namespace {

enum class Rank { User, Cgroup, Gone };

/* Paths are compared name by name, so that what is in a directory follows it. */
using Place = std::tuple<std::uint32_t, Rank, std::filesystem::path, std::uint64_t>;

Place place_of(const Account &account, const CgroupPaths &paths)
{
    if (account.uid)
        return {account.device_id, Rank::User, user_name(*account.uid), *account.uid};
    const std::string path = paths.of(account.cgroup);
    return {account.device_id, path.empty() ? Rank::Gone : Rank::Cgroup, path, account.cgroup};
}

} // namespace

void sort_accounts(std::vector<Account> &accounts, CgroupPaths &paths)
{
    std::set<std::uint64_t> cgroups;
    std::vector<std::pair<Place, Account>> places;

    for (const Account &account : accounts)
        if (!account.uid)
            cgroups.insert(account.cgroup);
    paths.find(std::move(cgroups));
    for (const Account &account : accounts)
        places.emplace_back(place_of(account, paths), account);
    std::stable_sort(places.begin(), places.end(), [](const auto &a, const auto &b) { return a.first < b.first; });
    std::transform(places.begin(), places.end(), accounts.begin(), [](const auto &place) { return place.second; });
}

std::string cgroup_name(std::uint64_t id, const CgroupPaths &paths)
{
    const std::string path = paths.of(id);
    return path.empty() ? "cgroup:" + std::to_string(id) : path;
}

std::vector<std::string> accounts_table(const std::vector<Account> &accounts, const CgroupPaths &paths,
                                        const std::vector<double> &gpu)
{
    std::vector<std::string> columns = {">DEVICE", "ACCOUNT", ">SHARE", ">PROCESSES", ">GPU TIME"};
    if (!gpu.empty())
        columns.emplace_back("> GPU%");
    Table table(columns);

    for (std::size_t i = 0; i < accounts.size(); i++) {
        const Account &account = accounts[i];
        std::vector<std::string> cells = {std::to_string(account.device_id),
                                          account.uid ? "user:" + user_name(*account.uid)
                                                      : printable(cgroup_name(account.cgroup, paths)),
                                          std::to_string(account.share), std::to_string(account.processes),
                                          format_rounded(static_cast<std::int64_t>(account.gpu_ns))};
        if (!gpu.empty())
            cells.push_back(format_percent(gpu[i]));
        table.add(std::move(cells));
    }
    return table.lines();
}

} // namespace ptsched
