/* SPDX-License-Identifier: MIT */
/* What the parts of the model share. */
#ifndef PTSCHED_SPMD_MODEL_ROOFLINE_HPP
#define PTSCHED_SPMD_MODEL_ROOFLINE_HPP

#include <ptsched/spmd/model.hpp>

namespace ptsched::spmd::model {

/* Bytes of input per second on that device alone; infinite if nothing is known to limit it. */
double rate(const Cpu &cpu, double intensity, Precision precision, const Conditions &conditions);
double rate(const Machine &machine, const Gpu &gpu, double intensity, Precision precision,
            const Conditions &conditions);

/* Throws Error unless it is a number that is not negative; @what says which one. */
void require_number(double value, const char *what);

} // namespace ptsched::spmd::model

#endif /* PTSCHED_SPMD_MODEL_ROOFLINE_HPP */
