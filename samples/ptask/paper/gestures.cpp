// SPDX-License-Identifier: MIT
#include "samples/ptask/paper/gestures.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace ptsched::paper {

namespace {

constexpr unsigned grid = 4;     /* every fourth pixel says where the hand is */
constexpr float in_hand = 0.15f; /* metres behind its nearest point */
constexpr double tolerance = 0.01;

float distance(std::uint32_t pixel, unsigned x, const Camera &camera)
{
    float depth = pixel >> 16 < 8 ? 8.0f : static_cast<float>(pixel & 0xffff) * 0.001f;
    float aside = (static_cast<float>(x) - 0.5f * static_cast<float>(camera.width)) / camera.focal * depth;
    return depth * camera.cosine - aside * camera.sine + camera.offset;
}

std::vector<Content> recording(const Scene &scene, unsigned camera)
{
    std::vector<Content> pictures;
    for (unsigned frame = 0; frame < recorded_frames; frame++)
        pictures.push_back(picture(scene, camera, frame));
    return pictures;
}

ValueId add_xform(Workload &workload, const Scene &scene, unsigned camera, ValueId pictures)
{
    return workload.step("xform", over(scene.pixels()), {pictures}, scene.pixels(), constant_of(scene.cameras[camera]));
}

ValueId add_filter(Workload &workload, const Scene &scene, ValueId left, ValueId right)
{
    return workload.step("bilateral", over_plane(scene.filter.width, scene.filter.height), {left, right},
                         scene.pixels(), constant_of(scene.filter));
}

Finish finish_by(const Give &give)
{
    return {0, [give](const auto &results, std::uint32_t *) { give(results); }};
}

Hand expected_hand(const Scene &scene, const Content &left, const Content &right)
{
    const unsigned width = scene.filter.width, height = scene.filter.height;
    std::vector<float> cloud(scene.pixels()), filtered(scene.pixels());
    transform(left, right, scene, {0, height}, cloud.data());
    filter(cloud.data(), scene.filter, {0, height}, grid, filtered.data());
    return find_hand(filtered.data(), width, height);
}

} // namespace

Scene::Scene(unsigned width, unsigned height)
{
    const float turned = 0.1f, focal = static_cast<float>(width);
    cameras[0] = {width, height, focal, std::sin(turned), std::cos(turned), 0.0f};
    cameras[1] = {width, height, focal, -std::sin(turned), std::cos(turned), 0.01f};
    filter = {width, height, 5, -0.5f / 9, -0.5f / 0.01f};
}

Content picture(const Scene &scene, unsigned camera, unsigned frame)
{
    const unsigned width = scene.cameras[camera].width, height = scene.cameras[camera].height;
    Content pixels(scene.pixels());
    Content grain = integers(pixels.size(), 101 + 2 * frame - camera);
    float hand_x = static_cast<float>(width) * (0.3f + 0.1f * static_cast<float>(frame));
    float hand_y = static_cast<float>(height) * 0.5f, size = static_cast<float>(height) * 0.2f;

    for (std::size_t i = 0; i < pixels.size(); i++) {
        float x = static_cast<float>(i % width) - hand_x, y = static_cast<float>(i / width) - hand_y;
        std::uint32_t depth = x * x + y * y < size * size ? 600 : 3000;
        std::uint32_t brightness = grain[i] % 100 == 0 ? 0 : 20 + grain[i] % 200;
        pixels[i] = brightness << 16 | (depth + grain[i] / 1000 % 16);
    }
    return pixels;
}

Hand find_hand(const float *cloud, unsigned width, unsigned height)
{
    float nearest = cloud[0];
    double sum[3] = {0, 0, 0};
    unsigned count = 0;
    auto each = [&](auto function) {
        for (unsigned y = 0; y < height; y += grid)
            for (unsigned x = 0; x < width; x += grid)
                function(x, y, cloud[std::size_t{y} * width + x]);
    };

    each([&](unsigned, unsigned, float z) { nearest = std::min(nearest, z); });
    each([&](unsigned x, unsigned y, float z) {
        if (z > nearest + in_hand)
            return;
        sum[0] += x;
        sum[1] += y;
        sum[2] += z;
        count++;
    });
    /* In the units of the screen: so that all are about as large. */
    auto mean = [&](double total, double of) { return static_cast<float>(total / count / of); };
    return {mean(sum[0], width), mean(sum[1], height), mean(sum[2], 1),
            static_cast<float>(count * grid * grid) / static_cast<float>(width * height)};
}

std::string line_of(const Hand &hand)
{
    char line[64];
    std::snprintf(line, sizeof(line), "%.4f %.4f %.4f %.4f\n", static_cast<double>(hand.x), static_cast<double>(hand.y),
                  static_cast<double>(hand.distance), static_cast<double>(hand.area));
    return line;
}

Hand hand_of(const std::string &line)
{
    Hand hand{};
    if (std::sscanf(line.c_str(), "%f %f %f %f", &hand.x, &hand.y, &hand.distance, &hand.area) != 4)
        throw Error("\"" + line + "\" does not say where a hand is");
    return hand;
}

Content content_of(const Hand &hand)
{
    return content_of(std::vector<float>{hand.x, hand.y, hand.distance, hand.area});
}

void transform(const Content &left, const Content &right, const Scene &scene, Rows rows, float *cloud)
{
    const unsigned width = scene.filter.width;
    for (unsigned y = rows.first; y < rows.last; y++)
        for (unsigned x = 0; x < width; x++) {
            std::size_t i = std::size_t{y} * width + x;
            cloud[i] = std::min(distance(left[i], x, scene.cameras[0]), distance(right[i], x, scene.cameras[1]));
        }
}

void filter(const float *cloud, const Bilateral &filter, Rows rows, unsigned every, float *out)
{
    const int width = static_cast<int>(filter.width), height = static_cast<int>(filter.height);
    const int r = static_cast<int>(filter.radius), step = static_cast<int>(every);
    for (int y = static_cast<int>(rows.first); y < static_cast<int>(rows.last); y += step)
        for (int x = 0; x < width; x += step) {
            const float here = cloud[y * width + x];
            float sum = 0, weights = 0;
            for (int v = std::max(0, y - r); v <= std::min(height - 1, y + r); v++)
                for (int u = std::max(0, x - r); u <= std::min(width - 1, x + r); u++) {
                    float value = cloud[v * width + u], apart = value - here;
                    auto square = static_cast<float>((u - x) * (u - x) + (v - y) * (v - y));
                    float weight = std::exp(filter.space * square + filter.range * apart * apart);
                    sum += weight * value;
                    weights += weight;
                }
            out[y * width + x] = sum / weights;
        }
}

Workload gestures(const Scene &scene, const Deliver &deliver)
{
    const unsigned width = scene.filter.width, height = scene.filter.height;
    const std::vector<Content> left = recording(scene, 0), right = recording(scene, 1);
    Workload workload;
    const ValueId from_left = add_xform(workload, scene, 0, workload.inputs(left));
    const ValueId from_right = add_xform(workload, scene, 1, workload.inputs(right));

    workload.results = {add_filter(workload, scene, from_left, from_right)};
    workload.name = "gesture/" + std::to_string(width) + "x" + std::to_string(height);
    workload.sets = recorded_frames;
    workload.finish = {sizeof(Hand) / sizeof(float), [=](const auto &results, std::uint32_t *out) {
                           Hand hand = find_hand(reinterpret_cast<const float *>(results[0]), width, height);
                           if (deliver)
                               deliver(hand);
                           std::memcpy(out, &hand, sizeof(hand));
                       }};
    workload.tolerance = tolerance;
    workload.expected = [=](unsigned set) {
        return std::vector<Content>{content_of(expected_hand(scene, left[set], right[set]))};
    };
    return workload;
}

Workload transformation(const Scene &scene)
{
    const Content pixels = picture(scene, 0, 0);
    Workload workload;

    workload.results = {add_xform(workload, scene, 0, workload.input(pixels))};
    workload.name = "xform/" + std::to_string(scene.filter.width) + "x" + std::to_string(scene.filter.height);
    workload.tolerance = tolerance;
    workload.expected = [=](unsigned) {
        std::vector<float> cloud(pixels.size());
        for (std::size_t i = 0; i < pixels.size(); i++)
            cloud[i] = distance(pixels[i], static_cast<unsigned>(i % scene.filter.width), scene.cameras[0]);
        return std::vector<Content>{content_of(cloud)};
    };
    return workload;
}

Workload xform_alone(const Scene &scene, const Give &give)
{
    Workload workload;
    for (unsigned camera : {0, 1})
        workload.results.push_back(add_xform(workload, scene, camera, workload.input(Content(scene.pixels()))));
    workload.finish = finish_by(give);
    return workload;
}

Workload filter_alone(const Scene &scene, const Give &give)
{
    Workload workload;
    const ValueId left = workload.input(Content(scene.pixels())), right = workload.input(Content(scene.pixels()));
    workload.results = {add_filter(workload, scene, left, right)};
    workload.finish = finish_by(give);
    return workload;
}

} // namespace ptsched::paper
