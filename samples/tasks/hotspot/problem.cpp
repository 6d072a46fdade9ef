// SPDX-License-Identifier: MIT
#include "samples/tasks/hotspot/problem.hpp"

#include "samples/common/parts.hpp"

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
    constexpr std::size_t rows_at_once = 64;
    std::vector<float> made(old.size());
    samples::in_parts(side, rows_at_once, [&](std::size_t first, std::size_t count) {
        for (std::size_t row = first; row < first + count; row++)
            for (std::size_t column = 0; column < side; column++) {
                const std::size_t i = row * side + column;
                made[i] = next(chip, old[i], old[column ? i - 1 : i], old[column + 1 < side ? i + 1 : i],
                               old[row ? i - side : i], old[row + 1 < side ? i + side : i], power[i]);
            }
    });
    return made;
}

} // namespace

Problem::Problem(Shape of) : shape(of), chip(chip_of(of.side)), temperature_(of.cells()), power_(of.cells())
{
    samples::fill_at_random(temperature_, 1);
    samples::fill_at_random(power_, 2);
    for (std::size_t i = 0; i < of.cells(); i++) {
        temperature_[i] = 330 + 10 * temperature_[i];
        power_[i] = (1 + power_[i]) / 2;
    }
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
