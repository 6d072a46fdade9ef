/* SPDX-License-Identifier: MIT */
/* What kernels take as their last parameter: those of kernels.cu by value, those of kernels.cl in constant memory. */
#ifndef PTSCHED_PAPER_PARAMETERS_H
#define PTSCHED_PAPER_PARAMETERS_H

/* Elements of a vector, or of a matrix in each direction. */
struct Size {
    unsigned int n;
};

/* One of a square matrix. */
struct Column {
    unsigned int n, which;
};

/* A matrix or an image. */
struct Plane {
    unsigned int width, height;
};

/* One step of a bitonic sort: see sort_level(). */
struct Level {
    unsigned int level, mask;
};

/* self += step * (dp/d(axis_p) - dq/d(axis_q)); x, y, z are axes 0, 1, 2. */
struct Curl {
    unsigned int nx, ny, nz, axis_p, axis_q;
    int neighbour; /* 1: the difference to the next cell, -1: to the one before */
    float step;
};

/* Integers, of which each block of threads takes a chunk. */
struct Groups {
    unsigned int count, keys, chunk, chunks;
};

struct Camera {
    unsigned int width, height;
    float focal, sine, cosine, offset;
};

struct Bilateral {
    unsigned int width, height, radius;
    float space, range; /* factors of the squared distances */
};

enum {
    PAPER_THREADS = 256, /* of a block, where a kernel relies on it */
    PAPER_ROW = 512,     /* what a block sorts; its threads */
    PAPER_TILE = 32,     /* of a product, by 16 x 16 threads */
    PAPER_MAX_KEYS = 512,
};

#endif /* PTSCHED_PAPER_PARAMETERS_H */
