/* SPDX-License-Identifier: MIT */
/* What is seen along a ray. */
#ifndef SAMPLES_ARENA_WORLD_RAYS_H
#define SAMPLES_ARENA_WORLD_RAYS_H

#include "samples/arena/world/views.h"

#include <cmath>

namespace ptsched::world {

constexpr float far_away = 1e30F, near_by = 1e-3F;

ON_BOTH_SIDES inline Vector operator+(const Vector &one, const Vector &other)
{
    return {one.x + other.x, one.y + other.y, one.z + other.z};
}

ON_BOTH_SIDES inline Vector operator-(const Vector &one, const Vector &other)
{
    return {one.x - other.x, one.y - other.y, one.z - other.z};
}

ON_BOTH_SIDES inline Vector operator*(float scale, const Vector &vector)
{
    return {scale * vector.x, scale * vector.y, scale * vector.z};
}

ON_BOTH_SIDES inline float dot(const Vector &one, const Vector &other)
{
    return one.x * other.x + one.y * other.y + one.z * other.z;
}

ON_BOTH_SIDES inline Vector cross(const Vector &one, const Vector &other)
{
    return {one.y * other.z - one.z * other.y, one.z * other.x - one.x * other.z, one.x * other.y - one.y * other.x};
}

ON_BOTH_SIDES inline Vector unit(const Vector &vector)
{
    return 1 / std::sqrt(dot(vector, vector)) * vector;
}

struct Ray {
    Vector from, along; /* the latter of length 1 */
};

struct Hit {
    float distance;
    Vector normal;
    const Material *material; /* null: nothing is hit */
};

/* Where it goes into the sphere; 0 if it begins inside; far away if it misses it. */
ON_BOTH_SIDES inline float distance_to(const Sphere &sphere, const Ray &ray)
{
    const Vector to = sphere.centre - ray.from;
    const float middle = dot(to, ray.along), outside = dot(to, to) - sphere.radius * sphere.radius;
    if (outside <= 0)
        return 0;
    const float square = middle * middle - outside;
    return middle > 0 && square >= 0 ? middle - std::sqrt(square) : far_away;
}

/* In what @bounds brings the mesh to. */
ON_BOTH_SIDES inline void hit_triangle(const Triangle &triangle, const Sphere &bounds, const Material *material,
                                       const Ray &ray, Hit &hit)
{
    const Vector origin = bounds.centre + bounds.radius * triangle.corners[0];
    const Vector one = bounds.radius * (triangle.corners[1] - triangle.corners[0]);
    const Vector other = bounds.radius * (triangle.corners[2] - triangle.corners[0]);
    const Vector beside = cross(ray.along, other), from = ray.from - origin;
    const float area = dot(one, beside);
    if (std::fabs(area) < 1e-9F)
        return;
    const Vector across = cross(from, one);
    const float u = dot(from, beside) / area, v = dot(ray.along, across) / area, distance = dot(other, across) / area;
    if (u < 0 || v < 0 || u + v > 1 || distance < near_by || distance >= hit.distance)
        return;
    const Vector normal = unit(cross(one, other));
    hit = {distance, dot(normal, ray.along) < 0 ? normal : -1 * normal, material};
}

template <typename View>
ON_BOTH_SIDES void hit_one(const View &view, typename View::Place place, float enters, const Ray &ray, Hit &hit)
{
    const Sphere &bounds = view.bounds(place);
    const unsigned int triangles = view.triangles(place);
    for (unsigned int i = 0; i < triangles; i++)
        hit_triangle(view.triangle(place, i), bounds, view.material(place), ray, hit);
    if (!triangles && enters > 0)
        hit = {enters, 1 / bounds.radius * (ray.from + enters * ray.along - bounds.centre), view.material(place)};
}

/* The nearest, by the graph: what is inside of a group is looked at if the ray goes into its bounds. */
template <typename View> struct ByGraph {
    const View &view;

    ON_BOTH_SIDES Hit operator()(const Ray &ray, float most) const
    {
        Hit hit{most, {}, nullptr};
        typename View::Place place = view.begin();
        while (!view.is_end(place)) {
            const float enters = distance_to(view.bounds(place), ray);
            if (enters < hit.distance) {
                if (view.is_group(place)) {
                    place = view.inside(place);
                    continue;
                }
                hit_one(view, place, enters, ray, hit);
            }
            place = view.next(place);
        }
        return hit;
    }
};

/* @find: what is hit first by a ray, nearer than so far. One mirror is looked into. */
template <typename Find> ON_BOTH_SIDES Vector colour_of(const Find &find, const Frame &frame, Ray ray)
{
    Vector seen{0, 0, 0};
    float share = 1;
    for (unsigned int bounce = 0; bounce < 2; bounce++) {
        const Hit hit = find(ray, far_away);
        if (!hit.material)
            return seen + share * (0.5F + 0.5F * ray.along.y) * Vector{0.4F, 0.6F, 1};
        const Vector at = ray.from + hit.distance * ray.along + near_by * hit.normal;
        const Vector to_light = frame.light - at;
        const float far = std::sqrt(dot(to_light, to_light)), slant = dot(hit.normal, to_light) / far;
        float lit = 0.2F;
        if (slant > 0 && !find({at, 1 / far * to_light}, far).material)
            lit += 0.8F * slant;
        seen = seen + share * (1 - hit.material->mirror) * lit * hit.material->colour;
        share *= hit.material->mirror;
        if (share <= 0)
            break;
        ray = {at, ray.along - 2 * dot(ray.along, hit.normal) * hit.normal};
    }
    return seen;
}

ON_BOTH_SIDES inline unsigned int shade_of(float light)
{
    return light < 1 ? static_cast<unsigned int>(255 * std::sqrt(light)) : 255;
}

/* Red is its lowest byte. */
template <typename Find>
ON_BOTH_SIDES unsigned int pixel_of(const Find &find, const Frame &frame, unsigned int x, unsigned int y)
{
    const float half = 0.5F * static_cast<float>(frame.width);
    const float to_right = (static_cast<float>(x) + 0.5F) / half - 1;
    const float upwards = (0.5F * static_cast<float>(frame.height) - static_cast<float>(y) - 0.5F) / half;
    const Ray ray{frame.eye, unit(frame.ahead + to_right * frame.right + upwards * frame.up)};
    const Vector colour = frame.exposure * colour_of(find, frame, ray);
    return shade_of(colour.x) | shade_of(colour.y) << 8 | shade_of(colour.z) << 16 | 0xff000000U;
}

} // namespace ptsched::world

#endif /* SAMPLES_ARENA_WORLD_RAYS_H */
