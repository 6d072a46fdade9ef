// SPDX-License-Identifier: MIT
#include "samples/arena/art/objects.hpp"

#include <algorithm>
#include <cmath>

namespace ptsched::art {

namespace {

using Values = std::array<double, neurons>;

unsigned mixed(unsigned number)
{
    number = (number ^ number >> 16) * 0x7feb352dU;
    number = (number ^ number >> 15) * 0x846ca68bU;
    return number ^ number >> 16;
}

double norm(const Values &values)
{
    double sum = 0;
    for (const double value : values)
        sum += value * value;
    return std::sqrt(sum);
}

void normalise(Values &values)
{
    const double size = norm(values);
    for (double &value : values)
        value *= size > 0 ? 1 / size : 0;
}

double heard(double value)
{
    return value > static_cast<double>(noise) ? value : 0;
}

Values settled_values(const float *window, std::size_t pitch)
{
    Values u{};
    for (unsigned round = 0; round < settling; round++) {
        Values x{};
        for (unsigned i = 0; i < neurons; i++)
            x[i] = static_cast<double>(window[i / side * pitch + i % side]) + static_cast<double>(a) * u[i];
        normalise(x);
        for (unsigned i = 0; i < neurons; i++)
            u[i] = heard(x[i]) + static_cast<double>(b) * heard(u[i]);
        normalise(u);
    }
    return u;
}

double resonance_of(const Values &u, const Weights &weights)
{
    Values p{}, r{};
    for (unsigned i = 0; i < neurons; i++) {
        p[i] = u[i] + static_cast<double>(d) * static_cast<double>(weights.down[i]);
        r[i] = u[i] + static_cast<double>(c) * p[i];
    }
    const double size = norm(u) + static_cast<double>(c) * norm(p);
    return size > 0 ? norm(r) / size : 0;
}

/* A category, and what it gets. */
struct Heard {
    double gets;
    unsigned number;
    const Category *category;
};

std::vector<Heard> heard_of(const Values &u, const Category *categories)
{
    std::vector<Heard> all;
    for (const Category *one = categories; one; one = one->next) {
        double sum = 0;
        for (unsigned i = 0; i < neurons; i++)
            sum += u[i] * static_cast<double>(one->weights.up[i]);
        if (sum > 0)
            all.push_back({sum, static_cast<unsigned>(all.size()), one});
    }
    return all;
}

} // namespace

/* A body, and some other spots that are as warm. */
Pattern object(unsigned number)
{
    constexpr unsigned kinds = 12, spots = 5;
    Pattern made{};
    for (unsigned spot = 0; spot < spots; spot++) {
        const unsigned random = mixed(number % kinds * spots + spot + 1);
        const float x = 3 + static_cast<float>(random % 10), y = 3 + static_cast<float>(random / 16 % 10);
        const float width = 1 + static_cast<float>(random / 256 % 4),
                    height = 1 + static_cast<float>(random / 1024 % 4);
        for (unsigned i = 0; i < neurons; i++) {
            const float by_x = (static_cast<float>(i % side) - x) / width;
            const float by_y = (static_cast<float>(i / side) - y) / height;
            made[i] = std::max(made[i], std::exp(-by_x * by_x - by_y * by_y));
        }
    }
    return made;
}

float background(unsigned pixel, unsigned image)
{
    return 0.05F * static_cast<float>(mixed(pixel + 0x9e3779b9U * (image + 1)) >> 8) / (1U << 24);
}

unsigned place_of(unsigned object, unsigned image, unsigned windows)
{
    return (object * 7919 + image * 5) % windows;
}

Pattern settled(const float *window, std::size_t pitch)
{
    const Values u = settled_values(window, pitch);
    Pattern made{};
    std::ranges::transform(u, made.begin(), [](double value) { return static_cast<float>(value); });
    return made;
}

Match match_of(const float *window, std::size_t pitch, const Category *categories)
{
    Values input{};
    for (unsigned i = 0; i < neurons; i++)
        input[i] = static_cast<double>(window[i / side * pitch + i % side]);
    const Values u = settled_values(window, pitch);
    Match match{0, static_cast<float>(norm(input)), most_categories};
    std::vector<Heard> all = heard_of(u, categories);
    std::ranges::stable_sort(all, std::greater<>(), &Heard::gets);
    for (const Heard &one : all) {
        const auto resonance = static_cast<float>(resonance_of(u, one.category->weights));
        match.resonance = std::max(match.resonance, resonance);
        if (resonance >= vigilance) {
            match.category = one.number;
            break;
        }
    }
    return match;
}

} // namespace ptsched::art
