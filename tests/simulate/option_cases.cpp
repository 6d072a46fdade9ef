// SPDX-License-Identifier: MIT
/* What ptsim is told. */
#include "tests/simulate/simulate_test.hpp"
#include "tools/ptsim/options.hpp"

#include <stdexcept>

namespace simulate_test {
namespace {

using namespace ptsim;

Options parse(std::vector<std::string> words)
{
    words.insert(words.begin(), "ptsim");
    std::vector<char *> arguments;
    for (std::string &word : words)
        arguments.push_back(word.data());
    arguments.push_back(nullptr);
    return parse_options(static_cast<int>(words.size()), arguments.data());
}

/* Empty: there was no error. */
std::string error_of(const std::vector<std::string> &words)
{
    try {
        parse(words);
        return "";
    } catch (const std::invalid_argument &error) {
        return error.what();
    }
}

bool says(const std::string &text, const std::string &part)
{
    if (text.find(part) != std::string::npos)
        return true;
    printf("# it says: %s\n", text.c_str());
    return false;
}

void test_taken()
{
    const Options options =
        parse({"--scenario", "weights", "--scheduler", "eevdf", "--scheduler", "fifo", "--entities", "50", "--hours",
               "2", "--seed", "7", "--slice-us", "5000", "--handover-us", "0", "--drain", "--out", "somewhere"});
    CHECK_EQ(options.scenarios.size(), std::size_t{1});
    CHECK(options.scenarios[0]->name == "weights");
    CHECK_EQ(options.schedulers.size(), std::size_t{2});
    CHECK_EQ(options.scale.entities, 50u);
    CHECK_EQ(options.scale.day, 2 * kHour);
    CHECK_EQ(options.scale.seed, std::uint64_t{7});
    const Scenario scenario = make_scenario(*options.scenarios[0], options.scale);
    CHECK_EQ(scenario.machine.slice_ns, 5 * kMs);
    CHECK_EQ(scenario.machine.handover_ns, Ns{0});
    CHECK(!scenario.machine.preemptible);
}

/* The largest of all scenarios only where it was asked for so many programs. */
void test_size()
{
    const auto has = [](const Options &options, const std::string &name) {
        for (const ScenarioKind *kind : options.scenarios)
            if (kind->name == name)
                return true;
        return false;
    };
    CHECK(has(parse({}), "equal-1000"));
    CHECK(!has(parse({}), "equal-10000"));
    CHECK(has(parse({"--entities", "10000"}), "equal-10000"));
}

void test_refused()
{
    CHECK(says(error_of({"--scheduler", "cfs"}), "there is no scheduler 'cfs'; there are weighted, "));
    CHECK(says(error_of({"--scenario", ""}), "there is no scenario ''; there are equal-2, "));
    CHECK(says(error_of({"--entities", "1"}), "--entities is a number from 2 to 100000, not '1'"));
    CHECK(says(error_of({"--hours", "2.5"}), "--hours is a number from 1 to 240, not '2.5'"));
    CHECK(says(error_of({"--seed", "-1"}), "--seed is a number from 0 to"));
    CHECK(says(error_of({"weights"}), "what is 'weights'?"));
}

} // namespace

std::vector<tap::Case> option_cases()
{
    return {
        {"options are taken", test_taken},
        {"scenarios by size", test_size},
        {"options that make no sense are refused, and it is said why", test_refused},
    };
}

} // namespace simulate_test
