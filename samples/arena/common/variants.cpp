// SPDX-License-Identifier: MIT
#include "samples/arena/common/variants.hpp"

#include <sstream>

namespace ptsched::samples {

namespace {

constexpr const char *names[] = {"hand", "managed", "owned", "shared"};

std::map<std::string, double> read_lines(const std::string &text)
{
    std::map<std::string, double> lines;
    std::istringstream words(text);
    for (std::string word; words >> word;) {
        const std::size_t colon = word.find(':');
        lines[word.substr(0, colon)] = std::stod(word.substr(colon + 1));
    }
    return lines;
}

constexpr const char *alone = "nothing overlaps";

/* Of one that runs for this alone. Returns what would be left if data were everywhere. */
double record_split(Report &report, const std::string &begin, const NamedVariant &named)
{
    const std::unique_ptr<Variant> variant = named.make();
    variant->restore();
    variant->run(); /* what is made at the first use, is */
    variant->restore();
    const std::map<std::string, double> before = variant->counts();
    variant->split.start();
    variant->run();
    for (std::size_t i = 0; i < part_names.size(); i++)
        report.record(begin + "/" + part_names[i] + "_ms", variant->split.parts()[i], "ms", alone);
    for (const auto &[name, count] : variant->counts())
        report.record(begin + "/" + name, count - before.at(name), name.ends_with("_ms") ? "ms" : "", "of a run");
    return variant->split.of(Part::host) + variant->split.of(Part::kernels);
}

std::vector<NamedWay> ways_of(const std::vector<NamedVariant> &variants)
{
    std::vector<NamedWay> ways;
    for (const NamedVariant &variant : variants)
        ways.push_back({variant.name, variant.make});
    return ways;
}

} // namespace

Choice Variants::choice()
{
    std::vector<std::string> words(std::begin(names), std::end(names));
    words.emplace_back("all");
    return {"--memory", &chosen_,
            "how data comes to the GPU and back, beside copies by hand, which always are measured", words};
}

std::vector<NamedVariant> Variants::chosen_of(const std::vector<NamedVariant> &all) const
{
    std::vector<NamedVariant> chosen;
    for (const NamedVariant &variant : all)
        if (chosen.empty() || chosen_ == std::size(names) || variant.name == names[chosen_])
            chosen.push_back(variant);
    return chosen;
}

void check_variants(const Variants &variants, const std::vector<NamedVariant> &all)
{
    check_ways(ways_of(variants.chosen_of(all)));
}

void measure_variants(const Settings &settings, Report &report, const std::string &name, const std::string &lines,
                      const std::vector<NamedVariant> &chosen)
{
    const std::vector<std::vector<double>> times = time_ways(settings, ways_of(chosen));
    const std::map<std::string, double> lines_of = read_lines(lines);
    for (std::size_t i = 0; i < chosen.size(); i++) {
        const std::string begin = name + "/" + chosen[i].name;
        report.record(begin + "_ms", spread_of(times[i]), "ms");
        std::vector<double> ratios;
        for (std::size_t round = 0; round < times[i].size(); round++)
            ratios.push_back(times[i][round] / times[0][round]);
        if (i)
            report.record(begin + "-over-hand", spread_of(ratios), "", "its time / that by hand");
        const double ideal = record_split(report, begin, chosen[i]);
        if (!i)
            report.record(name + "/ideal_ms", ideal, "ms", "host and kernels of " + chosen[i].name);
        report.record(begin + "/lines", lines_of.at(chosen[i].name), "lines", "of data management");
    }
}

void record_accesses(Report &report, const std::string &name, const Accesses &accesses)
{
    report.record(name + "/common-accesses", 100 * accesses.common / (accesses.common + accesses.own), "%",
                  "of accesses to memory");
}

} // namespace ptsched::samples
