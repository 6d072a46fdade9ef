/* SPDX-License-Identifier: MIT */
/*
 * What goes over the same points again and again: each is added to sums of some groups, and these say the model for the
 * next iteration. A Method has
 *
 *	name, what_model_is		texts
 *	dimensions			of a point
 *	groups, group_sums		sums of each group are one behind the other
 *	model_floats, tolerance		of the model, and how far sums in another order may lead it away
 *	threads, blocks			of a block of the kernels by hand, and so many blocks for each multiprocessor
 *	flops				for each byte of points
 *	point_at(place)			the dimension of a point that is at that place, of those of all points
 *	first_model(points)		that many
 *	add_point(point, model, sums)	sums of float or double
 *	next_model(sums, points, model)	the model is that of the iteration before
 */
#ifndef SAMPLES_SPMD_COMMON_POINTS_HPP
#define SAMPLES_SPMD_COMMON_POINTS_HPP

#include "samples/spmd/common/forward.hpp"
#include "samples/spmd/common/input.hpp"
#include "samples/spmd/common/ranks.hpp"

namespace ptsched::samples {

struct PointsShape {
    std::size_t points;
    unsigned iterations;
};

template <typename Method> constexpr unsigned sum_floats_of = Method::groups *Method::group_sums;

/* Each rank has some points, on which all iterations are. */
template <typename Method> class PointsProblem {
public:
    PointsProblem(const Ranks &of, PointsShape with)
        : ranks(of), shape(with), share(of.share(with.points)),
          points_(0, with.points * Method::dimensions, [](std::size_t place) { return Method::point_at(place); }),
          model_(Method::first_model(with.points))
    {
        constexpr std::size_t most_in_sequence = std::size_t{1} << 14;
        if (of.is_first() && with.points <= most_in_sequence)
            expected_.set(in_sequence());
    }
    const Ranks &ranks;
    const PointsShape shape;
    const Share share; /* points of this rank */
    std::span<const float> points() const
    {
        return all_points().subspan(share.first * Method::dimensions, share.count * Method::dimensions);
    }
    /* Of all ranks. */
    std::span<const float> all_points() const { return points_.all(); }
    const std::vector<float> &model() const { return model_; } /* at first */
    void check(std::span<const float> model, const std::string &by)
    {
        expected_.check(model, "the " + std::string(Method::what_model_is) + " " + by);
    }

private:
    std::vector<float> in_sequence() const
    {
        std::vector<float> model(model_);
        for (unsigned iteration = 0; iteration < shape.iterations; iteration++) {
            std::vector<double> sums(sum_floats_of<Method>);
            for (std::size_t i = 0; i < shape.points; i++)
                Method::add_point(points_.data() + i * Method::dimensions, model.data(), sums.data());
            Method::next_model(sums.data(), shape.points, model.data());
        }
        return model;
    }

    const Elements<float> points_;
    const std::vector<float> model_;
    Expected<float> expected_{Method::tolerance};
};

} // namespace ptsched::samples

#endif /* SAMPLES_SPMD_COMMON_POINTS_HPP */
