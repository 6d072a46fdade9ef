// SPDX-License-Identifier: MIT
#include "samples/arena/world/problem.hpp"

#include <fstream>
#include <numeric>

namespace ptsched::world {

namespace {

constexpr std::size_t most_on_host = 1U << 14; /* pixels */
constexpr std::size_t part = std::size_t{1} << 16;
constexpr double most_wrong = 0.005; /* of the pixels: where edges are, after a rounding */
constexpr float first_exposure = 1, wanted_brightness = 0.5F;

/* What is hit first, by looking at everything there is. */
struct ByAll {
    std::vector<Node> seen; /* without groups */

    explicit ByAll(const Scene &scene)
    {
        for (const Node *node = scene.root(); node; node = node->inside ? node->inside : node->next)
            if (!node->inside)
                seen.push_back(*node);
    }
    Hit operator()(const Ray &ray, float most) const
    {
        Hit hit{most, {}, nullptr};
        for (const Node &node : seen) {
            const float enters = distance_to(node.bounds, ray);
            if (enters < hit.distance)
                hit_one(LinkedView{&node}, &node, enters, ray, hit);
        }
        return hit;
    }
};

/* Looks like a view, and counts nodes and triangles that are looked at. */
struct Counting : LinkedView {
    double *nodes, *triangles_seen;
    const Sphere &bounds(Place place) const
    {
        ++*nodes;
        return LinkedView::bounds(place);
    }
    const Triangle &triangle(Place place, unsigned i) const
    {
        ++*triangles_seen;
        return LinkedView::triangle(place, i);
    }
};

void write_picture(const std::string &file, std::span<const unsigned> picture, const Shape &shape)
{
    std::ofstream out(file, std::ios::binary);
    out << "P6\n" << shape.width << ' ' << shape.height << "\n255\n";
    for (const unsigned pixel : picture)
        for (unsigned byte = 0; byte < 3; byte++)
            out.put(static_cast<char>(pixel >> 8 * byte));
    out.close();
    if (!out)
        throw Error("cannot write the picture to " + file);
}

bool is_close(unsigned one, unsigned other)
{
    for (unsigned shift = 0; shift < 24; shift += 8)
        if (std::abs(static_cast<int>(one >> shift & 255) - static_cast<int>(other >> shift & 255)) > 2)
            return false;
    return true;
}

/* Of all pixels, from 0 to 1. */
float brightness_of(std::span<const unsigned> picture)
{
    std::vector<unsigned long> sums(picture.size() / part + 1);
    samples::in_parts(picture.size(), part, [&](std::size_t first, std::size_t count) {
        unsigned long sum = 0;
        for (const unsigned pixel : picture.subspan(first, count))
            sum += (pixel & 255) + (pixel >> 8 & 255) + (pixel >> 16 & 255);
        sums[first / part] = sum;
    });
    return static_cast<float>(std::accumulate(sums.begin(), sums.end(), 0.0) / (3 * 255.0) /
                              static_cast<double>(picture.size()));
}

/* From that of a picture to that of the next but one. */
void adjust(float &exposure, std::span<const unsigned> picture)
{
    exposure = std::clamp(exposure * (1 + 0.5F * (wanted_brightness - brightness_of(picture))), 0.2F, 5.0F);
}

} // namespace

Problem::Problem(Shape of) : shape(std::move(of))
{
    if (shape.pixels() <= most_on_host)
        compute();
}

void Problem::compute()
{
    Things things(shape.swarms, shape.in_each);
    Scene scene(*std::pmr::new_delete_resource(), shape.width, shape.height);
    float exposures[] = {first_exposure, first_exposure};
    for (unsigned i = 0; i < shape.pictures; i++) {
        things.move();
        scene.update(things, exposures[i % 2]);
        const ByAll find(scene);
        for (unsigned y = 0; y < shape.height; y++)
            for (unsigned x = 0; x < shape.width; x++)
                scene.pixels()[y * shape.width + x] = pixel_of(find, scene.frame(), x, y);
        adjust(exposures[i % 2], scene.pixels());
    }
    expected_.assign(scene.pixels().begin(), scene.pixels().end());
    is_by_host_ = true;
}

void Problem::check(std::span<const unsigned> picture)
{
    if (expected_.empty())
        expected_.assign(picture.begin(), picture.end());
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < expected_.size(); i++)
        wrong += !is_close(expected_[i], picture[i]);
    if (static_cast<double>(wrong) > most_wrong * static_cast<double>(expected_.size()))
        throw Error("the picture is wrong: " + std::to_string(wrong) + " of " + std::to_string(expected_.size()) +
                    " pixels");
    if (!shape.file.empty())
        write_picture(shape.file, picture, shape);
}

/*
 * Rays look at nodes (bounds, and two pointers), and at triangles; some rays are followed to count them. The host
 * writes nodes, and reads pixels; what it alone has are things.
 */
samples::Accesses Problem::accesses() const
{
    constexpr unsigned pitch = 16;
    Things things(shape.swarms, shape.in_each);
    Scene scene(*std::pmr::new_delete_resource(), shape.width, shape.height);
    things.move();
    scene.update(things, first_exposure);
    double nodes = 0, triangles = 0, rays = 0;
    const Counting view{{scene.root()}, &nodes, &triangles};
    for (unsigned y = 0; y < shape.height; y += pitch)
        for (unsigned x = 0; x < shape.width; x += pitch, rays++)
            pixel_of(ByGraph<Counting>{view}, scene.frame(), x, y);
    const double pixels = static_cast<double>(shape.pixels()), all = static_cast<double>(scene.nodes());
    return {shape.pictures * (pixels / rays * (8 * nodes + 9 * triangles) + 2 * pixels + 12 * all),
            shape.pictures * 8 * all};
}

void Drawing::restore()
{
    things_.emplace(problem.shape.swarms, problem.shape.in_each);
    make_scenes();
}

void Drawing::run()
{
    float exposures[] = {first_exposure, first_exposure};
    for (unsigned i = 0; i < problem.shape.pictures; i++) {
        things_->move();
        scene(i % 2).update(*things_, exposures[i % 2]);
        end(samples::Part::host);
        draw(i % 2);
        if (i)
            adjust(exposures[(i - 1) % 2], picture((i - 1) % 2));
    }
    const std::span<const unsigned> last = picture((problem.shape.pictures - 1) % 2);
    end(samples::Part::host);
    last_.assign(last.begin(), last.end());
}

} // namespace ptsched::world
