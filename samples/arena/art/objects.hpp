/* SPDX-License-Identifier: MIT */
/* What there is to see, and how the host sees it. */
#ifndef SAMPLES_ARENA_ART_OBJECTS_HPP
#define SAMPLES_ARENA_ART_OBJECTS_HPP

#include "samples/arena/art/problem.hpp"

namespace ptsched::art {

/* One of the kinds that there are. */
Pattern object(unsigned number);
/* What is at a pixel where there is no object: noise, like that of a thermal image. */
float background(unsigned pixel, unsigned image);
/* The window where an object is. */
unsigned place_of(unsigned object, unsigned image, unsigned windows);

/* The first layer's answer to a window, of which rows are so far apart. */
Pattern settled(const float *window, std::size_t pitch);
/* What a window resonates with. */
Match match_of(const float *window, std::size_t pitch, const Category *categories);

} // namespace ptsched::art

#endif /* SAMPLES_ARENA_ART_OBJECTS_HPP */
