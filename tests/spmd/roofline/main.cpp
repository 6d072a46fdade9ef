// SPDX-License-Identifier: MIT
/* What is measured of machines, and how it is kept and shown. What rates are right, nobody knows: they are above 0. */
#include "tests/spmd/cache.hpp"
#include "tests/vgpu/daemon.h"
#include "tests/vgpu/tap.h"
#include "tools/ptsched-roofline/show.hpp"
#include <ptsched/spmd/roofline.hpp>

using namespace ptsched::spmd::model;
namespace fs = std::filesystem;

namespace {

constexpr std::size_t some_bytes = 1 << 20;

template <typename Body> std::string error_of(Body body)
{
    try {
        body();
        return "";
    } catch (const ptsched::Error &error) {
        return error.what();
    }
}

bool says(const std::string &text, const std::string &part)
{
    if (text.find(part) != std::string::npos)
        return true;
    std::printf("# it says: %s\n", text.c_str());
    return false;
}

Machine made_up()
{
    return test::made_up_machine();
}

void test_measured()
{
    const Machine machine = measure({.bytes = some_bytes});
    CHECK(machine.cpu.cores > 0 && !machine.cpu.name.empty());
    CHECK(machine.cpu.dram > 0 && machine.cpu.peak.fp32 > 0 && machine.cpu.peak.fp64 > 0);
    CHECK(machine.cpu.latency >= 0);
    CHECK_EQ(machine.gpus.size(), std::size_t{2});
    for (const Gpu &gpu : machine.gpus) {
        CHECK(!gpu.name.empty() && gpu.memory > 0);
        CHECK(gpu.to_gpu > 0 && gpu.to_host > 0 && gpu.dram > 0 && gpu.latency > 0);
        CHECK(gpu.peak.fp32 > 0 && gpu.peak.fp64 > 0);
    }
    CHECK(machine.network <= 0);
    const Share all = share(machine, {.cpu = 1, .gpu = 1});
    CHECK(all.cpu > 0 && all.cpu < 1 && all.rate > 0);
}

void test_json()
{
    Machine before = made_up();
    before.cpu.latency = 3e-5;
    const Machine after = machine_from_json(to_json(before));
    CHECK(to_json(after) == to_json(before));
    CHECK(after.cpu.name == before.cpu.name && after.gpus[0].memory == before.gpus[0].memory);
    CHECK_EQ(after.gpus[0].latency, before.gpus[0].latency);
    CHECK_EQ(after.cpu.latency, before.cpu.latency);

    const std::string text = to_json(before);
    CHECK(says(error_of([] { machine_from_json("[1"); }), "no JSON object"));
    CHECK(says(error_of([] { machine_from_json("{}"); }), "'version'"));
    CHECK(says(error_of([] { machine_from_json(R"({"version": 99})"); }), "another version"));
    std::string wrong = text;
    wrong.replace(wrong.find("\"to_gpu\""), 8, "\"to_mars\"");
    CHECK(says(error_of([&] { machine_from_json(wrong); }), "'to_gpu'"));
    wrong = text;
    wrong.insert(wrong.find("3000000000.0"), "-");
    CHECK(says(error_of([&] { machine_from_json(wrong); }), "'network' from 0 on"));
    /* Half a file, as after a crash, is an error wherever it ends. */
    for (std::size_t end = 0; end + 1 < text.size(); end += 7)
        CHECK(!error_of([&] { machine_from_json(text.substr(0, end)); }).empty());
}

void test_kept()
{
    const test::Cache cache;
    const fs::path file = machine_file(false);
    CHECK(file.parent_path() == cache.folder() / "ptsched");
    CHECK(file != machine_file(true));

    /* What is there is taken, even if it is not so. */
    cache.write(file, to_json(made_up()));
    CHECK(machine({.gpus = false}).cpu.name == made_up().cpu.name);
    /* What is measured of the network is added, each time. */
    Machine without = made_up();
    without.network = 0;
    cache.write(file, to_json(without));
    int asked = 0;
    const MeasureOptions options{.gpus = false, .bytes = some_bytes, .network = [&] {
                                     asked++;
                                     return 7e9;
                                 }};
    CHECK_EQ(machine(options).network, 7e9);
    CHECK_EQ(machine(options).network, 7e9);
    CHECK_EQ(asked, 2);
    CHECK_EQ(machine({.gpus = false}).network, 7e9);
    /* A file that is no use, or is to be renewed, is replaced. */
    for (const bool refresh : {false, true}) {
        cache.write(file, refresh ? to_json(made_up()) : "{");
        CHECK(machine(options, refresh).cpu.name != made_up().cpu.name);
        std::ifstream stream(file);
        const std::string text{std::istreambuf_iterator<char>(stream), {}};
        CHECK(machine_from_json(text).cpu.cores > 0);
    }
    /* Nothing else is left there. */
    CHECK_EQ(std::distance(fs::directory_iterator(cache.folder() / "ptsched"), {}), std::ptrdiff_t{1});
}

void test_no_cache()
{
    const test::Cache cache;
    /* A file stands where the folder would be: nothing is kept, and nothing is wrong. */
    cache.write(cache.folder() / "ptsched", "");
    CHECK(machine({.gpus = false, .bytes = some_bytes}).cpu.cores > 0);
    setenv("XDG_CACHE_HOME", "relative", 1);
    const std::string home = getenv("HOME") ? getenv("HOME") : "";
    setenv("HOME", "/somebody", 1);
    CHECK(machine_file(false).parent_path() == "/somebody/.cache/ptsched");
    unsetenv("HOME");
    CHECK(machine_file(false).empty());
    CHECK(machine({.gpus = false, .bytes = some_bytes}).cpu.cores > 0);
    setenv("HOME", home.c_str(), 1);
}

void test_shown()
{
    const roofline::Job job{.intensity = {.cpu = 10, .gpu = 10}};
    const std::string text = roofline::text_of(made_up(), job);
    CHECK(says(text, "50.0 GB/s"));
    /* 100 Gflop/s; 10 flop/byte from 16.7 GB/s, which host memory and bus have one after the other. */
    CHECK(says(text, "p = 37.5 %"));
    CHECK(says(roofline::text_of(made_up(), std::nullopt), "a GPU"));
    CHECK(roofline::text_of(made_up(), std::nullopt).find("p =") == std::string::npos);

    const std::string plot = roofline::plot_of(made_up(), job, "/tmp/a 'b'.svg");
    CHECK(says(plot, "set terminal svg"));
    CHECK(says(plot, "set output '/tmp/a ''b''.svg'"));
    CHECK(says(error_of([] { roofline::plot_of(made_up(), std::nullopt, "a.gif"); }), ".svg, .png or .pdf"));
}

} // namespace

int main()
{
    test::Daemon daemon;
    return tap::run({
        {"a machine is measured", test_measured},
        {"a machine as JSON, and what is none", test_json},
        {"what was measured is kept", test_kept},
        {"without a cache it is measured each time", test_no_cache},
        {"rooflines as text and as a plot", test_shown},
    });
}
