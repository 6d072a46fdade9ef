/* SPDX-License-Identifier: MIT */
/* The paper's programs, in the sizes that are asked for; the gestural interface is in gestures.hpp. */
#ifndef PTSCHED_PAPER_PROGRAMS_HPP
#define PTSCHED_PAPER_PROGRAMS_HPP

#include "samples/ptask/paper/workload.hpp"

namespace ptsched::paper {

enum class Matrices { multiply, add, copy };
/* gemm, madd, mcopy */
std::string name_of(Matrices kind);

/* A binary tree of @depth levels; one that copies has its root where the datum comes in. Matrices are n x n. */
Workload tree(Matrices kind, unsigned depth, std::size_t n);
/* @columns that have nothing to do with each other, each a chain of @rows. */
Workload rectangle(Matrices kind, unsigned rows, unsigned columns, std::size_t n);
/* A x B x C */
Workload chain(std::size_t n, bool resident);
/* @rows of @width steps that do nothing, each after two of the row before. */
Workload empty_steps(unsigned rows, unsigned width);

/* A bitonic sort of rows * 512 integers, transposing between its steps. */
Workload bitonic_sort(unsigned rows);
/* The field in a cavity with conducting walls, for @length steps of time, each with a current of its own. */
Workload cavity(unsigned length, unsigned nx, unsigned ny, unsigned nz);
/* The first three principal components of an n x n matrix. */
Workload components(std::size_t n, unsigned iterations);
/* Sums and maxima of the groups of integers that have the same of @keys keys. */
Workload group_by(std::size_t count, unsigned keys);

} // namespace ptsched::paper

#endif /* PTSCHED_PAPER_PROGRAMS_HPP */
