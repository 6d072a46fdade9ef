// SPDX-License-Identifier: MIT
/* How fast devices are, as measured. */
#include "libptsched/device/multiply_add.hpp"
#include "tests/device/work.hpp"
#include <ptsched/device/rates.hpp>

#include <thread>

using namespace test;
using device::copy_rate;
using device::Rate;
using device::Rates;
using device::rates_of;

namespace {

bool is_measured(const Rate &rate)
{
    return rate.lowest > 0 && rate.lowest <= rate.median && rate.median <= rate.highest;
}

void of_each_device()
{
    for (device::Device *one : {device::gpus().at(0), device::gpus().at(1), &device::host()}) {
        const Rates &rates = rates_of(*one);
        for (const Rate &rate : {rates.to_device, rates.to_host, rates.memory, rates.arithmetic})
            CHECK(is_measured(rate));
        /* Once. */
        CHECK(&rates == &rates_of(*one));
    }
    CHECK(&rates_of(gpu()) != &rates_of(device::host()));
}

/* The virtual GPU's clock is the model's: a copy takes 2 us and 1 ns for each 20 bytes, at most. */
void as_the_model_has_it()
{
    const Rates &rates = rates_of(gpu());
    CHECK(rates.to_device.highest <= 20e9 && rates.to_host.highest <= 20e9);
    CHECK(rates.memory.highest <= 40e9);
    const double all = static_cast<double>(*gpu().most_threads());
    CHECK(rates.arithmetic.highest <= all * device::multiply_add::kernel_operations / 64e-9);
}

void between_devices()
{
    device::Device &other = *device::gpus().at(1);
    CHECK(is_measured(copy_rate(gpu(), other)));
    CHECK_EQ(copy_rate(gpu(), other).median, copy_rate(gpu(), other).median);
    CHECK_EQ(copy_rate(device::host(), gpu()).median, rates_of(gpu()).to_device.median);
    CHECK_EQ(copy_rate(gpu(), device::host()).median, rates_of(gpu()).to_host.median);
    CHECK_EQ(2 * copy_rate(gpu(), gpu()).median, rates_of(gpu()).memory.median);
}

/* By way of the host, it takes as long as both ways. */
void of_an_old_driver()
{
    CHECK(!bare_gpu().reaches(gpu()));
    /* They have the same memory. */
    device::trim();
    const Rate rate = copy_rate(gpu(), bare_gpu());
    CHECK(is_measured(rate));
    CHECK(rate.median < rates_of(gpu()).to_host.median && rate.median < rates_of(bare_gpu()).to_device.median);
    bare_gpu().trim(0);
}

void by_many_at_once()
{
    std::vector<const Rates *> found(4);
    {
        std::vector<std::jthread> threads;
        for (const Rates *&one : found)
            threads.emplace_back([&one] { one = &rates_of(device::host()); });
    }
    CHECK(std::all_of(found.begin(), found.end(), [&](const Rates *one) { return one == found[0]; }));
}

void what_is_computed()
{
    /* Each of eight chains comes to 1. */
    CHECK_EQ(device::multiply_add::on_host(1000), 8.0f);
}

} // namespace

std::vector<tap::Case> test::rate_cases()
{
    return {{"rates of each device", of_each_device},
            {"rates as the model has them", as_the_model_has_it},
            {"rates between devices", between_devices},
            {"rates of an old driver", of_an_old_driver},
            {"rates are measured once for many", by_many_at_once},
            {"what is computed for a rate", what_is_computed}};
}
