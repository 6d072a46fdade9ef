// SPDX-License-Identifier: MIT
#include "libptsched/spmd/schedule/split.hpp"

#include "libptsched/spmd/schedule/parts.hpp"
#include <ptsched/base/error.hpp>

#include <algorithm>
#include <cmath>
#include <string>

namespace ptsched::spmd::schedule {

namespace {

/* Records that are too large for some device. */
constexpr unsigned large = Pool::everybody - 1;
constexpr unsigned nobody = Pool::everybody - 2;

} // namespace

Split::Split(const Range &partition, std::vector<SplitDevice> devices, Border border, SplitOptions options)
    : options_(std::move(options)), pool_(border, options_.block_bytes)
{
    for (const SplitDevice &device : devices)
        devices_.emplace_back(device);
    check();

    if (!options_.homes.empty() || options_.dynamic) {
        pool_.add(partition, options_.homes);
        for (const Home &home : options_.homes)
            if (home.who >= devices_.size() || !devices_[home.who].takes_part())
                pool_.disown(home.who);
        return;
    }
    std::vector<double> shares;
    for (const Device &device : devices_)
        shares.push_back(device.share);
    for (const Home &part : parts_by(shares, partition, border, options_.block_bytes))
        pool_.add(part.range, part.who);
}

void Split::check() const
{
    double sum = 0;
    bool any = false;
    for (const Device &device : devices_) {
        if (!(device.rate >= 0) || !(device.share >= 0 && device.share <= 1))
            throw Error("a device of a split has the rate " + std::to_string(device.rate) + " and the share " +
                        std::to_string(device.share) + ": a rate is from 0 on, a share from 0 to 1");
        if (device.share > 0 && !device.takes_part())
            throw Error("a device of a split has the share " + std::to_string(device.share) +
                        " and the rate 0: who has a share needs a rate");
        sum += device.share;
        any = any || device.takes_part();
    }
    if (!any)
        throw Error("no device of a split takes part: at least one needs a rate above 0");
    if (!options_.dynamic && options_.homes.empty() && std::abs(sum - 1) > 1e-6)
        throw Error("the shares of a static split are " + std::to_string(sum) + " together, not 1");
}

double Split::rate(unsigned number) const
{
    const Device &device = devices_.at(number);
    if (!(device.measured_seconds > 0))
        return device.rate;
    const double one = device.measured_bytes / device.measured_seconds;
    return device.streams ? one : one * device.at_once;
}

double Split::share(unsigned device) const
{
    std::uint64_t all = 0;
    for (const Device &one : devices_)
        all += one.done_bytes;
    return all ? static_cast<double>(devices_.at(device).done_bytes) / static_cast<double>(all) : 0;
}

/* Of one block, beside what it has under way. */
double Split::seconds_for(unsigned number, std::uint64_t bytes) const
{
    const Device &device = devices_[number];
    const unsigned at_once = device.streams ? std::min(device.under_way + 1, device.at_once) : device.at_once;
    return device.latency + static_cast<double>(bytes) * at_once / rate(number);
}

/* Several for each place of what the device is to have of @waiting, but no larger than its usual ones. */
std::uint64_t Split::size_for(unsigned number, std::uint64_t waiting) const
{
    const Device &device = devices_[number];
    if (options_.block_bytes)
        return 1;
    double all = 0;
    for (unsigned i = 0; i < devices_.size(); i++)
        if (devices_[i].takes_part() && (options_.dynamic || i == number))
            all += rate(i);
    const double part = static_cast<double>(waiting) * rate(number) / all;
    const std::uint64_t least = device.least ? device.least : std::max<std::uint64_t>(device.bytes / 8, 1);
    const std::uint64_t size = std::min(device.bytes, static_cast<std::uint64_t>(part / (2.0 * device.at_once)));
    return std::max({size, std::min(least, device.bytes), std::uint64_t{1}});
}

/*
 * At the end of a dynamic split: those that are at work would have done all that is left before @number has done its
 * smallest block. They ask again when they are ready.
 */
bool Split::others_are_faster(unsigned number) const
{
    double others = 0;
    for (unsigned i = 0; i < devices_.size(); i++)
        if (i != number && devices_[i].under_way && devices_[i].takes_part())
            others += rate(i);
    double theirs = static_cast<double>(pool_.bytes());
    for (const auto &[id, one] : under_way_)
        if (one.block.device != number)
            theirs += static_cast<double>(one.block.range.size()) / 2;
    const std::uint64_t mine = std::max(size_for(number, pool_.bytes()), options_.block_bytes);
    return others > 0 && seconds_for(number, mine) > theirs / others;
}

void Split::require_somebody(const Range &record) const
{
    std::uint64_t most = 0;
    for (const Device &device : devices_)
        if (device.takes_part())
            most = std::max(most, device.most);
    if (record.size() > most)
        throw Error("the record at byte " + std::to_string(record.begin) + " of the input has " +
                    std::to_string(record.size()) + " bytes, and the largest block that a device here can take has " +
                    std::to_string(most) + ": make blocks larger, or records smaller");
}

std::optional<Range> Split::take_from(unsigned whose, unsigned number)
{
    const Device &device = devices_[number];
    const bool home = !options_.homes.empty() && whose == number;
    const bool front = whose == number ? !options_.dynamic || !number : (whose == Pool::everybody ? !number : whose);
    for (;;) {
        const std::uint64_t size = home ? ~std::uint64_t{0} : size_for(number, pool_.bytes_of(whose));
        const auto range = pool_.take(whose, size, front ? Pool::From::front : Pool::From::back, device.most);
        if (!range || range->size() <= device.most)
            return range;
        pool_.add(*range, large);
        require_somebody(*range);
    }
}

/* Who would take longest for what is his own, of those that are not @helper. */
unsigned Split::who_needs_help(unsigned helper) const
{
    unsigned who = nobody;
    double longest = 0;
    for (unsigned i = 0; i < devices_.size(); i++) {
        if (i == helper || !pool_.bytes_of(i))
            continue;
        const double takes = static_cast<double>(pool_.bytes_of(i)) / rate(i);
        if (takes > longest) {
            longest = takes;
            who = i;
        }
    }
    return who;
}

std::optional<Range> Split::take(unsigned number)
{
    const Device &device = devices_[number];
    for (auto range = pool_.take(large, 1, Pool::From::front); range;) {
        if (range->size() <= device.most)
            return range;
        pool_.add(*range, large);
        break;
    }
    if (options_.dynamic && pool_.bytes() && others_are_faster(number))
        return std::nullopt;
    for (const unsigned whose : {number, Pool::everybody})
        if (auto range = take_from(whose, number))
            return range;
    if (!options_.dynamic)
        return std::nullopt;
    const unsigned whose = who_needs_help(number);
    return whose == nobody ? std::nullopt : take_from(whose, number);
}

std::optional<Block> Split::next(unsigned number, double now)
{
    Device &device = devices_.at(number);
    if (!device.takes_part() || device.under_way >= device.at_once || !pool_.bytes())
        return std::nullopt;
    const auto range = take(number);
    if (!range)
        return std::nullopt;
    const Block block{next_id_++, *range, number};
    device.under_way++;
    under_way_.emplace(block.id, UnderWay{block, now, device.under_way});
    return block;
}

bool Split::done(std::uint64_t id, double now)
{
    const auto found = under_way_.find(id);
    if (found == under_way_.end())
        return false;
    const auto &[block, since, at_once] = found->second;
    Device &device = devices_[block.device];
    device.under_way--;
    device.done_bytes += block.range.size();
    device.measured_bytes += static_cast<double>(block.range.size()) * (device.streams ? at_once : 1);
    device.measured_seconds += std::max(now - since, 0.0);
    done_.push_back({block.device, block.range});
    under_way_.erase(found);
    return true;
}

void Split::take_back(const UnderWay &under_way)
{
    devices_[under_way.block.device].under_way--;
    pool_.add(under_way.block.range);
}

void Split::give_back(std::uint64_t id)
{
    const auto found = under_way_.find(id);
    if (found == under_way_.end())
        return;
    take_back(found->second);
    under_way_.erase(found);
}

void Split::fail(unsigned number)
{
    devices_.at(number).failed = true;
    pool_.disown(number);
    /* Perhaps nobody can take them any more: who asks next will see. */
    pool_.disown(large);
    std::erase_if(under_way_, [&](const auto &one) {
        if (one.second.block.device != number)
            return false;
        take_back(one.second);
        return true;
    });
    const bool somebody = std::any_of(devices_.begin(), devices_.end(), [](auto &one) { return one.takes_part(); });
    if (!somebody && !finished())
        throw Error("all devices have failed that could do what is left of a partition, " +
                    std::to_string(pool_.bytes()) + " bytes");
}

} // namespace ptsched::spmd::schedule
