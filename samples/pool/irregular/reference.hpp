/* SPDX-License-Identifier: MIT */
/* The search on the host, and what the tree looks like. */
#ifndef SAMPLES_POOL_IRREGULAR_REFERENCE_HPP
#define SAMPLES_POOL_IRREGULAR_REFERENCE_HPP

#include "samples/pool/irregular/tree.h"

namespace ptsched::irregular {

struct Tree {
    Found found;
    unsigned long long width; /* of the widest level */
    /* In rounds of work: all, the longest way from a root to a leaf, and the dearest nodes of all levels. */
    unsigned long long work, longest, slowest;
};

Tree search_on_host(const Shape &shape);
/* Throws device::Error if it is not what the host has found. */
void expect(const Tree &tree, const Found &found, const char *by);

} // namespace ptsched::irregular

#endif /* SAMPLES_POOL_IRREGULAR_REFERENCE_HPP */
