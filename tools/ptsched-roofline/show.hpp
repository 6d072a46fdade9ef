/* SPDX-License-Identifier: MIT */
#ifndef ROOFLINE_SHOW_HPP
#define ROOFLINE_SHOW_HPP

#include <ptsched/spmd/model.hpp>

#include <optional>
#include <string>

namespace roofline {

namespace model = ptsched::spmd::model;

/* What is drawn on the rooflines. */
struct Job {
    model::Intensity intensity;
    model::Conditions conditions = {};
};

/* For a terminal: the parameters, and what comes of them for the job. */
std::string text_of(const model::Machine &machine, const std::optional<Job> &job);
/* What gnuplot is to do; the end of @file says which kind it is. Throws Error if there is none such. */
std::string plot_of(const model::Machine &machine, const std::optional<Job> &job, const std::string &file);

} // namespace roofline

#endif /* ROOFLINE_SHOW_HPP */
