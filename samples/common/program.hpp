/* SPDX-License-Identifier: MIT */
/* What programs that measure have in common: how they are called, and what they say when something is wrong. */
#ifndef SAMPLES_COMMON_PROGRAM_HPP
#define SAMPLES_COMMON_PROGRAM_HPP

#include "samples/common/report.hpp"
#include <ptsched/device/device.hpp>

#include <functional>
#include <string>
#include <vector>

namespace ptsched::samples {

struct Settings {
    std::string module; /* with the kernels */
    std::string hand;   /* a library with what needs the toolkit; empty: there is none here */
    std::string json;
    bool quick = false;  /* fewer rounds */
    bool check = false;  /* the smallest sizes, to see that results are right; nothing is measured */
    bool cpu = false;    /* no GPU has a part; of programs that have such a choice */
    bool report = false; /* says what runs were like, of programs that can */
    /* How often all is measured, in turn; 0: as is usual. */
    unsigned wanted_rounds = 0;
    unsigned rounds() const { return wanted_rounds ? wanted_rounds : quick ? 3 : 5; }
};

/* What a program can be told besides. */
struct Choice {
    std::string name; /* "--blocks" */
    unsigned *value;  /* with what it is when nothing is said */
    std::string what;
    /* If there are some, one of them is said in place of a number, and its place here is the value. */
    std::vector<std::string> words = {};
    /* If there is one, it is what is said, and there is no value; likewise whether anything is said. */
    std::string *text = nullptr;
    bool *flag = nullptr;
};

/*
 * The main function of the program @name, say pool-cholesky, which does what @what says; in files, its records' names
 * begin with what is before the first hyphen. Files are beside the program, NAME.fatbin and NAME-hand.so, unless
 * options name others. What @run throws is printed. Returns the exit status.
 */
int run_program(int argc, char **argv, const std::string &name, const std::string &what,
                const std::function<void(const Settings &, Report &)> &run, const std::vector<Choice> &choices = {});

/* The first GPU. Throws device::Error if there is none. */
device::Device &first_gpu();

} // namespace ptsched::samples

#endif /* SAMPLES_COMMON_PROGRAM_HPP */
