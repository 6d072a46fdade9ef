// SPDX-License-Identifier: MIT
#include "samples/arena/art/problem.hpp"

#include "samples/arena/art/objects.hpp"

namespace ptsched::art {

namespace {

constexpr unsigned most_on_host = 4096; /* windows */
constexpr float rate = 0.1F;            /* of learning */
constexpr float loud = 2;               /* energy of a window that is worth a category */
constexpr std::size_t part = std::size_t{1} << 14;

/* A category of this pattern, which has settled. */
void set_weights(Weights &weights, const Pattern &u)
{
    for (unsigned i = 0; i < neurons; i++)
        weights.up[i] = weights.down[i] = u[i] / (1 - d);
}

void add_category(Data &data, const Pattern &u)
{
    Category **end = &data.first;
    while (*end)
        end = &(*end)->next;
    Category *made = nullptr;
    if (data.forgotten.empty()) {
        made = static_cast<Category *>(data.memory->allocate(sizeof(Category), alignof(Category)));
    } else {
        made = data.forgotten.back();
        data.forgotten.pop_back();
    }
    *end = new (made) Category{};
    set_weights(made->weights, u);
}

/* The best of some windows: of any category, and of what none resonates with. */
struct Best {
    float resonance = -1, energy = -1;
    unsigned window = 0, unknown = 0;
    void look_at(const Match &match, unsigned at)
    {
        if (match.category < most_categories && match.resonance > resonance) {
            resonance = match.resonance;
            window = at;
        }
        if (match.category == most_categories && match.energy > energy) {
            energy = match.energy;
            unknown = at;
        }
    }
    void look_at(const Best &other)
    {
        if (other.resonance > resonance) {
            resonance = other.resonance;
            window = other.window;
        }
        if (other.energy > energy) {
            energy = other.energy;
            unknown = other.unknown;
        }
    }
};

Best best_of(std::span<const Match> matches)
{
    std::vector<Best> parts(matches.size() / part + 1);
    samples::in_parts(matches.size(), part, [&](std::size_t first, std::size_t count) {
        Best best;
        for (std::size_t i = first; i < first + count; i++)
            best.look_at(matches[i], static_cast<unsigned>(i));
        parts[first / part] = best;
    });
    Best best;
    for (const Best &one : parts)
        best.look_at(one);
    return best;
}

/* What the GPU does, by the host, one window after another. */
void scan(const Data &data, Shape shape)
{
    for (unsigned window = 0; window < shape.windows(); window++)
        data.matches[window] = match_of(&data.image[shape.offset(window)], shape.scan.width, data.first);
}

} // namespace

Problem::Problem(Shape of) : shape(of)
{
    if (of.windows() <= most_on_host)
        compute();
}

void Problem::restore(Data &data) const
{
    constexpr unsigned known = 2;
    for (Category *one = data.first; one; one = one->next)
        data.forgotten.push_back(one);
    data.first = nullptr;
    for (unsigned i = 0; i < known; i++)
        add_category(data, settled(object(i).data(), side));
    std::ranges::fill(data.matches, Match{});
}

void Problem::draw(std::span<float> pixels, unsigned image) const
{
    samples::in_parts(pixels.size(), part, [&](std::size_t first, std::size_t count) {
        for (std::size_t i = first; i < first + count; i++)
            pixels[i] = background(static_cast<unsigned>(i), image);
    });
    for (unsigned i = 0; i < shape.objects; i++) {
        const Pattern pattern = object(i);
        float *const first = &pixels[shape.offset(place_of(i, image, shape.windows()))];
        for (unsigned j = 0; j < neurons; j++)
            first[j / side * shape.scan.width + j % side] += pattern[j];
    }
}

/* The category that resonates most learns slowly, what is loud and unknown at once. */
Found Problem::learn(Data &data, unsigned image) const
{
    const Best best = best_of(data.matches);
    Found found;
    if (best.resonance >= 0) {
        const Match &match = data.matches[best.window];
        found = {static_cast<double>(match.resonance), best.window, match.category, 0};
        Category *category = data.first;
        for (unsigned i = 0; i < match.category; i++)
            category = category->next;
        const Pattern u = settled(&data.image[shape.offset(best.window)], shape.scan.width);
        for (unsigned i = 0; i < neurons; i++) {
            category->weights.up[i] += rate * (u[i] / (1 - d) - category->weights.up[i]);
            category->weights.down[i] += rate * (u[i] / (1 - d) - category->weights.down[i]);
        }
    }
    for (const Category *one = data.first; one; one = one->next)
        found.categories++;
    if (best.energy > loud && found.categories < most_categories)
        add_category(data, settled(&data.image[shape.offset(best.unknown)], shape.scan.width));
    if (image + 1 < shape.images)
        draw(data.image, image + 1);
    return found;
}

void Problem::compute()
{
    std::pmr::monotonic_buffer_resource memory;
    Data data(memory, memory, shape);
    restore(data);
    draw(data.image, 0);
    std::vector<Found> found;
    for (unsigned image = 0; image < shape.images; image++) {
        scan(data, shape);
        found.push_back(learn(data, image));
    }
    check(data, found); /* the first is what is expected */
}

void Problem::check(const Data &data, const std::vector<Found> &found)
{
    std::vector<float> resonance;
    std::vector<double> numbers;
    for (const Match &match : data.matches)
        resonance.push_back(match.resonance);
    for (const Found &one : found)
        numbers.insert(numbers.end(), {one.resonance, static_cast<double>(one.window),
                                       static_cast<double>(one.category), static_cast<double>(one.categories)});
    found_.check(numbers, "what was found");
    resonance_.check(resonance, "what windows resonate with");
}

/*
 * A window is read once, and of each category what it gives, and, of each that is tried, which is all at most, what it
 * takes; threads keep the rest in registers. The host writes the image and reads the matches.
 */
samples::Accesses Problem::accesses() const
{
    double categories = 0;
    for (unsigned image = 0; image < shape.images; image++)
        categories += std::min(2 + image, most_categories);
    const double windows = shape.windows();
    return {windows * (shape.images * (neurons + 6.0) + categories * 2 * neurons) + 1.0 * shape.images * shape.pixels(),
            0};
}

void Recognition::run()
{
    found_.clear();
    problem.draw(data().image, 0);
    for (unsigned image = 0; image < problem.shape.images; image++) {
        end(samples::Part::host);
        scan();
        found_.push_back(problem.learn(data(), image));
    }
    end(samples::Part::host);
}

} // namespace ptsched::art
