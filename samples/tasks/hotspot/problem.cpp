// SPDX-License-Identifier: MIT
#include "samples/tasks/hotspot/problem.hpp"

#include <algorithm>
#include <random>

namespace ptsched::hotspot {

namespace {

/* A chip of 16 x 16 mm, 0.5 mm thick, in Rodinia's units. */
Chip chip_of(unsigned side)
{
    constexpr float chip_side = 0.016F, thickness = 0.0005F, conductivity = 100, heat_capacity = 0.5F * 1.75e6F;
    constexpr float ambient = 80, precision = 0.001F, most_power = 3.0e6F;
    const float cell = chip_side / static_cast<float>(side);
    const float capacity = heat_capacity * thickness * cell * cell;
    const float by_side = 2 * conductivity * thickness, by_air = conductivity * cell * cell / thickness;
    const float step = precision / (most_power / (heat_capacity * thickness * 1000));
    return {std::min(step / capacity, 0.2F / (2 * by_side + by_air)), by_side, by_side, by_air, ambient};
}

std::vector<float> next_of(const std::vector<float> &old, const std::vector<float> &power, const Chip &chip,
                           unsigned side)
{
    std::vector<float> made(old.size());
    for (std::size_t row = 0; row < side; row++)
        for (std::size_t column = 0; column < side; column++) {
            const std::size_t i = row * side + column;
            made[i] = next(chip, old[i], old[column ? i - 1 : i], old[column + 1 < side ? i + 1 : i],
                           old[row ? i - side : i], old[row + 1 < side ? i + side : i], power[i]);
        }
    return made;
}

} // namespace

Problem::Problem(Shape of) : shape(of), chip(chip_of(of.side)), temperature_(of.cells()), power_(of.cells())
{
    std::minstd_rand source(1);
    std::uniform_real_distribution<float> degrees(320, 340), watts(0, 1);
    std::generate(temperature_.begin(), temperature_.end(), [&] { return degrees(source); });
    std::generate(power_.begin(), power_.end(), [&] { return watts(source); });
    std::vector<float> temperature(temperature_);
    for (unsigned i = 0; i < of.steps; i++)
        temperature = next_of(temperature, power_, chip, of.side);
    expected_.set(std::move(temperature));
}

void Problem::restore(float *temperature, float *power) const
{
    samples::copy_all(temperature_, temperature);
    samples::copy_all(power_, power);
}

} // namespace ptsched::hotspot
