// SPDX-License-Identifier: MIT
/* One partition on one node, with devices in virtual time. */
#include "libptsched/spmd/schedule/split.hpp"

#include "tests/spmd/model/cases.hpp"

#include <map>

namespace test {
namespace {

using namespace ptsched::spmd::schedule;

/* Places of devices that have blocks until some time; @speeds: bytes per second of each device. */
class Node {
public:
    Node(Split &split, std::vector<SplitDevice> devices, std::vector<double> speeds)
        : split_(split), devices_(std::move(devices)), speeds_(std::move(speeds)), lost_(devices_.size())
    {
    }

    /* Until all is done; false if it stands still before. */
    bool run()
    {
        for (;;) {
            for (unsigned i = 0; i < devices_.size(); i++)
                while (!lost_[i] && start(i))
                    ;
            if (under_way_.empty())
                return split_.finished();
            end_one();
        }
    }
    /* The device does nothing more, from the moment at which so many blocks have been done. */
    void fail_after(unsigned device, unsigned blocks) { fails_.emplace(blocks, device); }

    double now() const { return now_; }
    const std::vector<Range> &done() const { return done_; }
    const std::vector<Block> &blocks() const { return blocks_; }

private:
    bool start(unsigned device)
    {
        const auto block = split_.next(device, now_);
        if (!block)
            return false;
        const SplitDevice &one = devices_[device];
        const double size = static_cast<double>(block->range.size());
        double begin = now_, takes = one.latency + size * one.at_once / speeds_[device];
        if (one.streams) {
            /* One after another. */
            begin = std::max(begin, free_[device]);
            takes = one.latency + size / speeds_[device];
            free_[device] = begin + takes;
        }
        blocks_.push_back(*block);
        under_way_.emplace(begin + takes, *block);
        return true;
    }
    void end_one()
    {
        const auto [at, block] = *under_way_.begin();
        under_way_.erase(under_way_.begin());
        now_ = at;
        if (split_.done(block.id, now_))
            done_.push_back(block.range);
        const auto [begin, end] = fails_.equal_range(static_cast<unsigned>(done_.size()));
        for (auto one = begin; one != end; ++one) {
            lost_[one->second] = true;
            split_.fail(one->second);
        }
        fails_.erase(begin, end);
    }

    Split &split_;
    std::vector<SplitDevice> devices_;
    std::vector<double> speeds_;
    std::vector<char> lost_;
    std::map<unsigned, double> free_;
    std::multimap<double, Block> under_way_;
    std::multimap<unsigned, unsigned> fails_;
    std::vector<Range> done_;
    std::vector<Block> blocks_;
    double now_ = 0;
};

/* A CPU, and perhaps GPUs. */
std::vector<SplitDevice> random_devices()
{
    std::vector<SplitDevice> devices(*rc::gen::inRange(1, 5));
    double rates = 0, shares = 0;
    for (SplitDevice &device : devices) {
        device.rate = *rc::gen::inRange(1, 100);
        device.at_once = *rc::gen::inRange(1, 5);
        device.bytes = *rc::gen::inRange<std::uint64_t>(1, 200);
        device.least = *rc::gen::inRange<std::uint64_t>(0, 50);
        device.latency = *rc::gen::inRange(0, 3) / 10.0;
        device.streams = &device != &devices.front();
        rates += device.rate;
    }
    for (SplitDevice &device : devices)
        shares += device.share = device.rate / rates;
    devices.back().share = std::max(0.0, devices.back().share + 1 - shares);
    return devices;
}

std::vector<double> rates_of(const std::vector<SplitDevice> &devices)
{
    std::vector<double> rates;
    for (const SplitDevice &device : devices)
        rates.push_back(device.rate);
    return rates;
}

void test_once()
{
    holds("each record is in one block, whoever fails", [] {
        const Records records = random_records();
        std::vector<SplitDevice> devices = random_devices();
        if (devices.size() > 1)
            devices[1].most = 300; /* some records are longer */
        SplitOptions options{.dynamic = *rc::gen::arbitrary<bool>(), .block_bytes = *rc::gen::element(0u, 0u, 40u)};
        Split split({0, records.bytes()}, devices, records.border(), options);
        Node node(split, devices, rates_of(devices));
        /* The first one can take all, and so it remains. */
        for (unsigned i = 1; i < devices.size(); i++)
            if (*rc::gen::arbitrary<bool>())
                node.fail_after(i, *rc::gen::inRange(1, 20));
        RC_ASSERT(node.run());
        RC_ASSERT(are_all_of(node.done(), {0, records.bytes()}));
        for (const Block &block : node.blocks()) {
            RC_ASSERT(records.are_whole(block.range));
            RC_ASSERT(block.range.size() <= devices[block.device].most);
        }
        std::uint64_t all = 0;
        for (unsigned i = 0; i < devices.size(); i++)
            all += split.done_bytes(i);
        RC_ASSERT(all == records.bytes());
    });
}

void test_order()
{
    holds("with a grid, blocks are the same, whoever takes them", [] {
        const Records records = random_records();
        const std::uint64_t grid = *rc::gen::inRange<std::uint64_t>(1, 200);
        const std::vector<SplitDevice> devices = random_devices();
        Split split({0, records.bytes()}, devices, records.border(),
                    {.dynamic = *rc::gen::arbitrary<bool>(), .block_bytes = grid});
        Node node(split, devices, rates_of(devices));
        RC_ASSERT(node.run());
        std::vector<std::uint64_t> cuts{records.bytes()};
        for (const Range &range : node.done())
            cuts.push_back(range.begin);
        std::sort(cuts.begin(), cuts.end());
        RC_ASSERT(cuts == records.grid(grid));
    });
}

/* 16 cores and a GPU, for numbers of bytes as jobs have them. */
std::vector<SplitDevice> usual_devices(double cpu, double gpu, double bytes)
{
    const double p = cpu / (cpu + gpu);
    return {{.rate = cpu,
             .share = p,
             .at_once = 16,
             .bytes = static_cast<std::uint64_t>(p * bytes / 64) + 1,
             .latency = 5e-6},
            {.rate = gpu,
             .share = 1 - p,
             .at_once = 2,
             .streams = true,
             .bytes = static_cast<std::uint64_t>((1 - p) * bytes / 16) + 1,
             .latency = 2e-5}};
}

const Border any_byte = [](std::uint64_t at) { return at; };

/* Time of the best division over the time it took, if devices are as fast as @speeds. */
double efficiency(bool dynamic, const std::vector<SplitDevice> &devices, const std::vector<double> &speeds,
                  double bytes)
{
    Split split({0, static_cast<std::uint64_t>(bytes)}, devices, any_byte, {.dynamic = dynamic});
    Node node(split, devices, speeds);
    CHECK(node.run());
    return bytes / (speeds[0] + speeds[1]) / node.now();
}

void test_efficiency()
{
    const double bytes = 1e10;
    for (const double gpu : {1e8, 1e9, 1e10, 1e11})
        for (const bool dynamic : {false, true}) {
            const auto devices = usual_devices(1e10, gpu, bytes);
            const double as_told = efficiency(dynamic, devices, {1e10, gpu}, bytes);
            if (!CHECK(as_told > 0.95))
                std::printf("# %g of a GPU with %g bytes/s, %s\n", as_told, gpu, dynamic ? "dynamic" : "static");
        }
    /* Where the model is wrong by a factor of two, the dynamic one finds out, and the static one does not. */
    for (const double wrong : {0.5, 2.0}) {
        const auto devices = usual_devices(1e10, 1e10 * wrong, bytes);
        const double found_out = efficiency(true, devices, {1e10, 1e10}, bytes);
        const double told = efficiency(false, devices, {1e10, 1e10}, bytes);
        if (!CHECK(found_out > 0.95 && told < 0.8))
            std::printf("# dynamic %g, static %g\n", found_out, told);
    }
}

void test_shares()
{
    holds("a static split is the model's, to a record", [] {
        const Records records = random_records();
        const std::vector<SplitDevice> devices = random_devices();
        Split split({0, records.bytes()}, devices, records.border());
        Node node(split, devices, rates_of(devices));
        RC_ASSERT(node.run());
        for (unsigned i = 0; i < devices.size(); i++)
            RC_ASSERT(std::abs(split.share(i) - devices[i].share) * static_cast<double>(records.bytes()) <=
                      2 * 500 + 1);
    });
    /* Nothing for who has no share. */
    auto devices = usual_devices(1e9, 1e9, 1e6);
    devices[0].share = 0;
    devices[1].share = 1;
    Split split({0, 1000000}, devices, any_byte);
    CHECK(!split.next(0, 0));
    Node node(split, devices, {1e9, 1e9});
    CHECK(node.run());
    CHECK_EQ(split.share(0), 0.0);
}

void test_iterations()
{
    const double bytes = 1e9;
    for (const bool dynamic : {false, true}) {
        const auto devices = usual_devices(1e9, 4e9, bytes);
        std::map<std::uint64_t, unsigned> before;
        std::vector<Home> homes;
        for (int iteration = 0; iteration < 5; iteration++) {
            Split split({0, 1000000000}, devices, any_byte, {.dynamic = dynamic, .homes = homes});
            Node node(split, devices, {1e9, 4e9});
            CHECK(node.run());
            CHECK(are_all_of(node.done(), {0, 1000000000}));
            double moved = 0;
            for (const Block &block : node.blocks())
                for (const Home &home : homes)
                    if (home.who != block.device && home.range.begin < block.range.end &&
                        block.range.begin < home.range.end)
                        moved += static_cast<double>(std::min(home.range.end, block.range.end) -
                                                     std::max(home.range.begin, block.range.begin));
            CHECK(moved <= (dynamic ? 0.02 : 0) * bytes);
            CHECK(bytes / 5e9 / node.now() > 0.95);
            homes = split.homes();
        }
    }
}

void test_large_records()
{
    /* One that only the first device can take, and one that none can. */
    const Records records({10, 10, 1000, 10, 10});
    std::vector<SplitDevice> devices(2, {.rate = 1, .share = 0.5, .bytes = 20, .most = 100});
    devices[0].most = 1000;
    for (const bool dynamic : {false, true}) {
        Split split({0, records.bytes()}, devices, records.border(), {.dynamic = dynamic});
        Node node(split, devices, {1, 1});
        CHECK(node.run());
        CHECK(split.done_bytes(0) >= 1000);
        CHECK(are_all_of(node.done(), {0, records.bytes()}));
    }
    devices[0].most = 999;
    Split split({0, records.bytes()}, devices, records.border(), {.dynamic = true});
    const std::string error = error_of([&] { Node(split, devices, {1, 1}).run(); });
    CHECK(error.find("the record at byte 20 of the input has 1000 bytes") != std::string::npos);

    /* The one that could take it fails. */
    devices[0].most = 1000;
    Split left({0, records.bytes()}, devices, records.border(), {.dynamic = true});
    const std::string later = error_of([&] {
        Node node(left, devices, {1, 1});
        while (const auto block = left.next(1, 0))
            left.done(block->id, 1);
        left.fail(0);
        node.run();
    });
    CHECK(later.find("at byte 20") != std::string::npos);
}

void test_errors()
{
    const auto make = [](std::vector<SplitDevice> devices, bool dynamic = false) {
        return error_of([&] { Split({0, 10}, devices, any_byte, {.dynamic = dynamic}); });
    };
    CHECK(make({{.rate = 1, .share = 1}}).empty());
    CHECK(make({{.rate = 1}}, true).empty());
    CHECK(make({{.rate = 1, .share = 0.5}}).find("0.500000 together, not 1") != std::string::npos);
    CHECK(make({{.rate = 0, .share = 1}}).find("needs a rate") != std::string::npos);
    CHECK(make({{.rate = 0}}, true).find("no device") != std::string::npos);
    CHECK(make({{.rate = -1, .share = 1}}).find("from 0 on") != std::string::npos);
    CHECK(make({}).find("no device") != std::string::npos);

    Split split({0, 10}, {{.rate = 1, .share = 1}}, any_byte);
    CHECK(split.next(0, 0).has_value());
    CHECK(error_of([&] { split.fail(0); }).find("all devices have failed") != std::string::npos);
    /* What comes too late counts no more. */
    CHECK(!split.done(0, 1));
}

/* A block that is given back is somebody's again. */
void test_given_back()
{
    Split split({0, 100}, {{.rate = 1, .share = 1, .at_once = 2, .bytes = 50, .least = 50}}, any_byte);
    const auto first = split.next(0, 0), second = split.next(0, 0);
    CHECK(first && second && !split.next(0, 0));
    split.give_back(first->id);
    CHECK(!split.done(first->id, 1));
    CHECK(split.done(second->id, 1));
    CHECK(!split.finished());
    const auto again = split.next(0, 1);
    CHECK(again && again->range == first->range);
    CHECK(split.done(again->id, 2) && split.finished());
}

} // namespace

std::vector<tap::Case> split_cases()
{
    return {
        {"a split does each record once", test_once},
        {"blocks of a grid are the same for all", test_order},
        {"a split takes little longer than the best one", test_efficiency},
        {"shares of a static split", test_shares},
        {"blocks stay where they are in iterations", test_iterations},
        {"records that are too large for a device", test_large_records},
        {"what a split refuses", test_errors},
        {"blocks that are given back", test_given_back},
    };
}

} // namespace test
