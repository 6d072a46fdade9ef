// SPDX-License-Identifier: MIT
/* Shares, against the paper's equations and figures. */
#include "tests/spmd/model/cases.hpp"
#include <ptsched/spmd/model.hpp>

#include <limits>

namespace test {
namespace {

using namespace ptsched::spmd::model;

constexpr double giga = 1e9;

Machine machine_of(double pc, double dram, double pg, double pcie)
{
    Machine machine;
    machine.cpu = {"", 4, {pc, pc}, dram};
    machine.gpus = {Gpu{.name = "", .peak = {pg, pg}, .dram = 10 * dram, .to_gpu = pcie, .to_host = pcie}};
    return machine;
}

/* From a tenth to a thousand, as machines and jobs are. */
double number()
{
    return std::pow(10.0, *rc::gen::inRange(-1000, 3001) / 1000.0);
}

Machine random_machine()
{
    return machine_of(number() * giga, number() * giga, number() * giga, number() * giga);
}

Intensity both(double intensity)
{
    return {intensity, intensity, Precision::fp64};
}

/* (8) as it has to be: by its three cases. */
double equation_8(const Machine &machine, double a)
{
    const double pc = machine.cpu.peak.fp64, pg = machine.gpus[0].peak.fp64, dram = machine.cpu.dram;
    const double to_gpu = 1 / (1 / dram + 1 / machine.gpus[0].to_gpu);
    const double acr = pc / dram, agr = pg / to_gpu;
    const double fc = a < acr ? a * dram : pc, fg = a < agr ? a * to_gpu : pg;
    return fc / (fg + fc);
}

/*
 * Table 5: a node of Delta has two X5660 and a C2070. What the text at hand does not have of the paper's parameters is
 * taken from the makers: 12 cores of 2.8 GHz that do four single-precision operations at once have 134.4 Gflop/s, the
 * GPU 1030, and three channels of DDR3-1333 have 32 GB/s. The PCIe bandwidth is not known; 0.9 GB/s is what 97.3 % say,
 * and so that figure tests no more than that the equation can have it. C-means and GMM do not depend on it.
 */
void test_table_5()
{
    const Machine delta = machine_of(134.4 * giga, 32 * giga, 1030 * giga, 0.915 * giga);
    const Share gemv = share(delta, both(2));
    /* Beyond both ridges, as both of them are in the paper. */
    const Share c_means = share(delta, both(5000));
    const Share gmm = share(delta, both(6600));
    CHECK(std::abs(100 * gemv.cpu - 97.3) < 0.1);
    CHECK(std::abs(100 * c_means.cpu - 11.2) < 0.5);
    CHECK_EQ(c_means.cpu, gmm.cpu);
    /* As the paper measured; its model is off by 6.5 points for GEMV, and so is this one. */
    CHECK(std::abs(100 * gemv.cpu - 90.8) < 7);
    CHECK(std::abs(100 * c_means.cpu - 11.9) < 1);
    CHECK(std::abs(100 * gmm.cpu - 13.1) < 2);
}

void test_equation_8()
{
    holds("the share is that of (8), and both parts take the same time", [] {
        const Machine machine = random_machine();
        const double a = number();
        const Share all = share(machine, both(a));
        RC_ASSERT(all.cpu >= 0 && all.cpu <= 1);
        RC_ASSERT(near(all.cpu, equation_8(machine, a)));
        RC_ASSERT(near(all.cpu + all.gpus[0], 1));
        RC_ASSERT(near(all.cpu / all.cpu_rate, all.gpus[0] / all.gpu_rates[0]));
        RC_ASSERT(near(all.seconds(1e9), seconds(all, all.cpu, 1e9)));
    });
    holds("no other share is faster", [] {
        const Share all = share(random_machine(), {number(), number(), Precision::fp32});
        const double other = *rc::gen::inRange(0, 1001) / 1000.0;
        RC_ASSERT(seconds(all, other, 1e9) >= seconds(all, all.cpu, 1e9) * (1 - 1e-9));
    });
}

void test_limits()
{
    holds("who is alone has all", [] {
        Machine machine = random_machine();
        const double a = number();
        RC_ASSERT(share(machine, {a, std::nullopt, Precision::fp64}).cpu == 1);
        RC_ASSERT(share(machine, {std::nullopt, a, Precision::fp64}).cpu == 0);
        machine.gpus.clear();
        RC_ASSERT(share(machine, both(a)).cpu == 1);
    });
    holds("equal devices have a half each, whatever is computed", [] {
        /* A GPU whose input is in its own memory, and a CPU, with the same rates. */
        Machine machine = random_machine();
        machine.gpus[0].peak = machine.cpu.peak;
        machine.gpus[0].dram = machine.cpu.dram;
        const Share all = share(machine, both(number()), {.input = Where::gpu});
        RC_ASSERT(near(all.cpu, 0.5));
    });
    holds("GPUs that are alike have the same, and n of them n times as much as one", [] {
        Machine machine = random_machine();
        const Share one = share(machine, both(5));
        const int n = *rc::gen::inRange(1, 9);
        machine.gpus.resize(n, machine.gpus[0]);
        const Share all = share(machine, both(5));
        RC_ASSERT(near(all.gpus[0], all.gpus[n - 1]));
        RC_ASSERT(near((1 - all.cpu) / all.cpu, n * (1 - one.cpu) / one.cpu, 1e-6));
    });
}

/* What makes a device faster does not make its part smaller, nor the whole slower. */
void test_monotone()
{
    holds("a faster device gets no less", [] {
        const Machine machine = random_machine();
        const double a = number(), times = 1 + number();
        const Conditions conditions{.input = *rc::gen::element(Where::host, Where::gpu),
                                    .path = *rc::gen::element(Path::staged, Path::streamed)};
        const Share before = share(machine, both(a), conditions);
        Machine cpu = machine, gpu = machine, bus = machine;
        cpu.cpu.peak.fp64 *= times;
        gpu.gpus[0].peak.fp64 *= times;
        bus.gpus[0].to_gpu *= times;
        RC_ASSERT(share(cpu, both(a), conditions).cpu >= before.cpu * (1 - 1e-12));
        RC_ASSERT(share(gpu, both(a), conditions).cpu <= before.cpu * (1 + 1e-12));
        RC_ASSERT(share(bus, both(a), conditions).cpu <= before.cpu * (1 + 1e-12));
        for (const Machine &faster : {cpu, gpu, bus})
            RC_ASSERT(share(faster, both(a), conditions).rate >= before.rate * (1 - 1e-12));
    });
    holds("flop/s do not fall as the intensity grows, and end at the peak", [] {
        const Machine machine = random_machine();
        const double a = number(), more = a * (1 + number());
        const double top =
            1e9 * std::max(ridge(machine.cpu, Precision::fp64), ridge(machine, machine.gpus[0], Precision::fp64));
        RC_ASSERT(flops(machine.cpu, a, Precision::fp64) <= flops(machine.cpu, more, Precision::fp64) * (1 + 1e-12));
        RC_ASSERT(flops(machine, machine.gpus[0], a, Precision::fp64) <=
                  flops(machine, machine.gpus[0], more, Precision::fp64) * (1 + 1e-12));
        RC_ASSERT(near(flops(machine.cpu, top, Precision::fp64), machine.cpu.peak.fp64));
        RC_ASSERT(near(flops(machine, machine.gpus[0], top, Precision::fp64), machine.gpus[0].peak.fp64));
    });
}

/* Numbers as of an H200: what is in its memory is worth 100 times what comes over the bus. */
void test_resident()
{
    Machine machine = machine_of(1000 * giga, 400 * giga, 34000 * giga, 55 * giga);
    machine.gpus[0].dram = 4000 * giga;
    const Share host = share(machine, both(0.25));
    const Share resident = share(machine, both(0.25), {.input = Where::gpu});
    CHECK(near(host.cpu, 400 / (400 + 1 / (1 / 400.0 + 1 / 55.0))));
    CHECK(near(resident.cpu, 400.0 / 4400));
    CHECK(near(resident.rate, 4400 * giga));
    /* For what comes home 55 GB/s are enough if that goes on at the same time; else it adds its time. */
    const Conditions streamed{.input = Where::gpu, .path = Path::streamed, .home = 1.0 / 128};
    const Conditions staged{.input = Where::gpu, .path = Path::staged, .home = 1.0 / 128};
    CHECK(near(bandwidth(machine, machine.gpus[0], streamed), 4000 * giga));
    CHECK(near(bandwidth(machine, machine.gpus[0], staged), giga / (1.0 / 4000 + 1.0 / (128 * 55))));

    holds("what is resident is never slower", [] {
        const Machine machine = random_machine();
        Machine usual = machine;
        usual.gpus[0].dram = machine.cpu.dram * (1 + number());
        const double a = number();
        RC_ASSERT(share(usual, both(a), {.input = Where::gpu}).rate >= share(usual, both(a)).rate);
        RC_ASSERT(share(usual, both(a), {.input = Where::gpu}).cpu <= share(usual, both(a)).cpu);
    });
}

void test_paths()
{
    const Machine machine = machine_of(1000 * giga, 400 * giga, 34000 * giga, 50 * giga);
    const Gpu &gpu = machine.gpus[0];
    CHECK(near(bandwidth(machine, gpu, {.path = Path::streamed}), 50 * giga));
    CHECK(near(bandwidth(machine, gpu, {.path = Path::staged}), giga / (1 / 400.0 + 1 / 50.0)));
    /* A disk that is slower than all is the limit of both, and all there is of the whole. */
    const Share from_disk = share(machine, both(0.25), {.path = Path::streamed, .source = 2 * giga});
    CHECK(near(from_disk.cpu_rate, 2 * giga));
    CHECK(near(from_disk.rate, 2 * giga));
    /* A network that all that is mapped has to go through. */
    Machine clustered = machine;
    clustered.network = 1 * giga;
    CHECK(near(share(clustered, both(0.25), {.sent = 0.5}).rate, 2 * giga));
    CHECK(near(share(clustered, both(0.25), {.sent = 0}).rate, share(machine, both(0.25)).rate));
}

/* What is copied by the CPU before it goes to the GPU costs its memory three times. */
void test_host_traffic()
{
    const Machine machine = machine_of(1000 * giga, 100 * giga, 34000 * giga, 50 * giga);
    const auto with = [&](double traffic) {
        return share(machine, both(0.25), {.path = Path::streamed, .host_traffic = traffic});
    };
    CHECK(near(with(0).cpu, 100.0 / 150));
    CHECK(near(with(1).cpu, 100.0 / 150));
    CHECK(near(with(1).rate, 100 * giga));
    CHECK(near(with(3).cpu, 1));
    CHECK(near(with(3).rate, 100 * giga));
    /* A job that computes leaves bandwidth: it is what the GPU has. */
    const Share busy = share(machine, both(20), {.path = Path::streamed, .host_traffic = 3});
    CHECK(near(busy.rate, 50 * giga + 50 / 3.0 * giga));
    CHECK(near(busy.cpu, 50 / (50 + 50 / 3.0)));

    holds("memory's bandwidth is not given out twice", [] {
        const Machine machine = random_machine();
        const double traffic = number();
        const Share all = share(machine, both(number()), {.path = Path::streamed, .host_traffic = traffic});
        const double moved = all.rate * (all.cpu + traffic * (1 - all.cpu));
        RC_ASSERT(moved <= machine.cpu.dram * (1 + 1e-9) || near(traffic, 1));
    });
}

void test_probe()
{
    holds("a probe's intensity has the probe's rate", [] {
        const Machine machine = random_machine();
        const Conditions conditions{.path = *rc::gen::element(Path::staged, Path::streamed)};
        const double cpu = bandwidth(machine.cpu, conditions) * std::min(1.0, number());
        const double gpu = bandwidth(machine, machine.gpus[0], conditions) * std::min(1.0, number());
        const Intensity intensity{probed(machine.cpu, {cpu * 3, 3}, Precision::fp64, conditions),
                                  probed(machine, machine.gpus[0], {gpu * 2, 2}, Precision::fp64, conditions),
                                  Precision::fp64};
        const Share by_probe = share(machine, intensity, conditions), by_rates = share_of_rates(cpu, {gpu});
        RC_ASSERT(near(by_probe.cpu_rate, cpu) && near(by_probe.gpu_rates[0], gpu));
        RC_ASSERT(near(by_probe.cpu, by_rates.cpu));
    });
    /* What comes out of a cache is faster than memory: the roofline has no more than that. */
    const Machine machine = machine_of(100 * giga, 10 * giga, 1000 * giga, 5 * giga);
    CHECK(near(probed(machine.cpu, {50 * giga, 1}, Precision::fp64), 10));
}

/* A CPU beside a GPU that is nine times as fast: alone, it would have a gigabyte in a second. */
void test_worthwhile()
{
    Cpu cpu{.name = "", .cores = 4, .peak = {}, .latency = 1e-3};
    const Share all = share_of_rates(giga / 9, {giga});
    CHECK(near(all.cpu, 0.1));
    const auto part = [&](double bytes, double least = 0) { return worthwhile(cpu, all, bytes, least).cpu; };
    /* A tenth of the time is saved, and has to be as long as it takes to wake cores. */
    CHECK(near(part(0.0101 * giga), 0.1) && part(0.0099 * giga) <= 0);
    /* A core has a block of a 36th of it for as long as the GPU takes for all. */
    CHECK(near(part(giga, giga / 37), 0.1) && part(giga, giga / 35) <= 0);
    const Share alone = worthwhile(cpu, all, 1);
    CHECK(near(alone.gpus.at(0), 1) && near(alone.rate, giga) && near(alone.cpu_rate, giga / 9));
    cpu.latency = 0;
    CHECK(near(part(1), 0.1));
    /* Who is alone has all, whatever that costs. */
    cpu.latency = 1e9;
    CHECK(near(worthwhile(cpu, share_of_rates(1, {}), 1, 2).cpu, 1));
    CHECK(near(worthwhile(cpu, share_of_rates(1, {0, 0}), 1, 2).cpu, 1));
    CHECK(near(worthwhile(cpu, share_of_rates(0, {1, 3}), 1, 2).gpus.at(1), 0.75));
}

bool says(const std::string &text, const char *part)
{
    if (text.find(part) != std::string::npos)
        return true;
    std::printf("# it says: %s\n", text.c_str());
    return false;
}

void test_errors()
{
    const Machine machine = machine_of(100 * giga, 10 * giga, 1000 * giga, 5 * giga);
    Machine without = machine;
    without.gpus.clear();
    CHECK(says(error_of([&] { share(machine, {}); }), "neither for the CPU nor for GPUs"));
    CHECK(says(error_of([&] { share(without, {std::nullopt, 1}); }), "there is none"));
    CHECK(says(error_of([&] { share(machine, both(-1)); }), "from 0 on"));
    CHECK(says(error_of([&] { share(machine, both(std::nan(""))); }), "from 0 on"));
    CHECK(says(error_of([&] { probed(machine.cpu, {0, 1}, Precision::fp64); }), "some bytes"));
    CHECK(says(error_of([&] { share_of_rates(0, {0, 0}); }), "above 0"));
    without.cpu.peak = {};
    CHECK(says(error_of([&] { share(without, both(1)); }), "ptsched-roofline"));
    /* Nothing but reading: the peak does not matter, but some bandwidth has to be known. */
    CHECK(near(share(without, both(0)).rate, 10 * giga));
    without.cpu.dram = 0;
    CHECK(says(error_of([&] { share(without, both(0)); }), "ptsched-roofline"));
}

} // namespace

std::vector<tap::Case> model_cases()
{
    return {
        {"the paper's table 5", test_table_5},
        {"equation 8 and its optimum", test_equation_8},
        {"limits of the share", test_limits},
        {"what is faster gets no less", test_monotone},
        {"input in GPU memory", test_resident},
        {"staged and streamed paths, disks and networks", test_paths},
        {"memory of the host that copies share", test_host_traffic},
        {"a part that costs more than it saves", test_worthwhile},
        {"a probe's intensity", test_probe},
        {"what the model refuses", test_errors},
    };
}

} // namespace test
