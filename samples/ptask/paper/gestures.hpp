/* SPDX-License-Identifier: MIT */
/*
 * The gestural interface: two depth cameras (catusb), a transformation for each (xform), a filter for what both see
 * (filter), and where the hand is (hidinput).
 */
#ifndef PTSCHED_PAPER_GESTURES_HPP
#define PTSCHED_PAPER_GESTURES_HPP

#include "samples/ptask/paper/executor.hpp"
#include "samples/ptask/paper/parameters.h"

namespace ptsched::paper {

/* Where the cameras are, and how their noise is filtered. */
struct Scene {
    Scene(unsigned width, unsigned height);
    std::size_t pixels() const { return std::size_t{filter.width} * filter.height; }

    Camera cameras[2];
    Bilateral filter;
};

/* The recording begins again after so many frames. */
constexpr unsigned recorded_frames = 4;
/* A wall, and a hand that goes from left to right. */
Content picture(const Scene &scene, unsigned camera, unsigned frame);

/* In parts of the picture; the distance in metres. */
struct Hand {
    float x, y, distance, area;
};
Hand find_hand(const float *cloud, unsigned width, unsigned height);
/* As a line of text, and back; throws Error if it is not such a line. */
std::string line_of(const Hand &hand);
Hand hand_of(const std::string &line);
Content content_of(const Hand &hand);

/* All of it. @deliver gets where the hand is, frame by frame. */
using Deliver = std::function<void(const Hand &hand)>;
Workload gestures(const Scene &scene, const Deliver &deliver = {});
/* The transformation of one camera's pictures. */
Workload transformation(const Scene &scene);

/* Programs of one kind of step. Their inputs are written before each run; @give gets what they make of these. */
using Give = std::function<void(const std::vector<const std::uint32_t *> &results)>;
Workload xform_alone(const Scene &scene, const Give &give);
Workload filter_alone(const Scene &scene, const Give &give);

/* Without a GPU, by all processors. For what gestures() made of @scene. */
std::unique_ptr<Executor> make_gestures_on_host(const Scene &scene, const Workload &workload);

/* Of a picture, or of a cloud: @first to @last - 1. */
struct Rows {
    unsigned first, last;
};
/* As the kernels do it: what both cameras see, and the same without noise, at each @every-th row and column. */
void transform(const Content &left, const Content &right, const Scene &scene, Rows rows, float *cloud);
void filter(const float *cloud, const Bilateral &filter, Rows rows, unsigned every, float *out);

} // namespace ptsched::paper

#endif /* PTSCHED_PAPER_GESTURES_HPP */
