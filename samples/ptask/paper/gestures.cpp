// SPDX-License-Identifier: MIT
// The gestural interface: what two depth cameras see comes into one cloud of points, is filtered, and becomes events
// that say where the hand is.
#include "programs.hpp"

#include "parameters.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace ptsched::paper {

namespace {

constexpr unsigned frames = 4, radius = 5;
constexpr unsigned grid = 4;     /* every fourth pixel says where the hand is */
constexpr float in_hand = 0.15f; /* metres behind its nearest point */

struct Event {
    float x, y, z, area;
};

/* A wall, and a hand that goes from left to right. */
Content picture(const Camera &camera, unsigned frame, bool left)
{
    Content pixels(std::size_t{camera.width} * camera.height);
    Content grain = integers(pixels.size(), 100 + 2 * frame + left);
    float hand_x = static_cast<float>(camera.width) * (0.3f + 0.1f * static_cast<float>(frame));
    float hand_y = static_cast<float>(camera.height) * 0.5f, size = static_cast<float>(camera.height) * 0.2f;

    for (std::size_t i = 0; i < pixels.size(); i++) {
        float x = static_cast<float>(i % camera.width) - hand_x, y = static_cast<float>(i / camera.width) - hand_y;
        std::uint32_t depth = x * x + y * y < size * size ? 600 : 3000;
        std::uint32_t brightness = grain[i] % 100 == 0 ? 0 : 20 + grain[i] % 200;
        pixels[i] = brightness << 16 | (depth + grain[i] / 1000 % 16);
    }
    return pixels;
}

Event find_hand(const float *cloud, unsigned width, unsigned height)
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

std::vector<float> transformed(const Content &pixels, const Camera &camera)
{
    std::vector<float> cloud(pixels.size());
    for (unsigned y = 0; y < camera.height; y++)
        for (unsigned x = 0; x < camera.width; x++) {
            std::size_t i = std::size_t{y} * camera.width + x;
            float depth = pixels[i] >> 16 < 8 ? 8.0f : static_cast<float>(pixels[i] & 0xffff) * 0.001f;
            float aside = (static_cast<float>(x) - 0.5f * static_cast<float>(camera.width)) / camera.focal * depth;
            cloud[i] = depth * camera.cosine - aside * camera.sine + camera.offset;
        }
    return cloud;
}

std::vector<float> filtered(const std::vector<float> &cloud, const Bilateral &filter)
{
    std::vector<float> out(cloud.size());
    int width = static_cast<int>(filter.width), height = static_cast<int>(filter.height), r = static_cast<int>(radius);
    for (int y = 0; y < height; y += grid)
        for (int x = 0; x < width; x += grid) {
            std::size_t here = static_cast<std::size_t>(y * width + x);
            float sum = 0, weights = 0;
            for (int v = std::max(0, y - r); v <= std::min(height - 1, y + r); v++)
                for (int u = std::max(0, x - r); u <= std::min(width - 1, x + r); u++) {
                    float value = cloud[static_cast<std::size_t>(v * width + u)], apart = value - cloud[here];
                    auto square = static_cast<float>((u - x) * (u - x) + (v - y) * (v - y));
                    float weight = std::exp(filter.space * square + filter.range * apart * apart);
                    sum += weight * value;
                    weights += weight;
                }
            out[here] = sum / weights;
        }
    return out;
}

} // namespace

Workload gestures(unsigned width, unsigned height, std::FILE *events)
{
    const float turned = 0.1f, focal = static_cast<float>(width);
    const Camera cameras[2] = {{width, height, focal, std::sin(turned), std::cos(turned), 0.0f},
                               {width, height, focal, -std::sin(turned), std::cos(turned), 0.01f}};
    const Bilateral filter{width, height, radius, -0.5f / 9, -0.5f / 0.01f};
    const std::size_t pixels = std::size_t{width} * height;
    std::vector<Content> pictures[2];
    Workload workload;
    std::vector<ValueId> clouds;

    for (unsigned i = 0; i < 2; i++) {
        for (unsigned frame = 0; frame < frames; frame++)
            pictures[i].push_back(picture(cameras[i], frame, i == 0));
        ValueId camera = workload.inputs(pictures[i]);
        clouds.push_back(workload.step("xform", over(pixels), {camera}, pixels, constant_of(cameras[i])));
    }
    ValueId cloud =
        workload.step("bilateral", over_plane(width, height), {clouds[0], clouds[1]}, pixels, constant_of(filter));
    workload.name = "gesture/" + std::to_string(width) + "x" + std::to_string(height);
    workload.sets = frames;
    workload.results = {cloud};
    workload.finish = {sizeof(Event) / sizeof(float), [=](const auto &results, std::uint32_t *out) {
                           auto *points = reinterpret_cast<const float *>(results[0]);
                           Event event = find_hand(points, width, height);
                           if (events)
                               std::fprintf(events, "%.4f %.4f %.4f %.4f\n", static_cast<double>(event.x),
                                            static_cast<double>(event.y), static_cast<double>(event.z),
                                            static_cast<double>(event.area));
                           std::memcpy(out, &event, sizeof(event));
                       }};
    workload.tolerance = 0.01;
    workload.expected = [=](unsigned set) {
        auto cloud = transformed(pictures[0][set], cameras[0]), right = transformed(pictures[1][set], cameras[1]);
        std::transform(cloud.begin(), cloud.end(), right.begin(), cloud.begin(),
                       [](float a, float b) { return std::min(a, b); });
        Event event = find_hand(filtered(cloud, filter).data(), width, height);
        return std::vector<Content>{content_of({event.x, event.y, event.z, event.area})};
    };
    return workload;
}

} // namespace ptsched::paper
