// SPDX-License-Identifier: MIT
#include "tools/ptsched-roofline/show.hpp"

#include <ptsched/base/error.hpp>

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <filesystem>

namespace roofline {

namespace {

using namespace model;

[[gnu::format(printf, 2, 3)]] void add(std::string &text, const char *format, ...)
{
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    text += line;
}

/* 0 is what nobody has measured. */
std::string in_giga(double value, const char *unit)
{
    std::string text;
    if (value > 0)
        add(text, "%.1f G%s", value / 1e9, unit);
    return text.empty() ? "not known" : text;
}

const char *name_of(Precision precision)
{
    return precision == Precision::fp32 ? "single" : "double";
}

void add_peak(std::string &text, const Peak &peak)
{
    add(text, "  peak, single        %s\n", in_giga(peak.fp32, "flop/s").c_str());
    add(text, "  peak, double        %s\n", in_giga(peak.fp64, "flop/s").c_str());
}

void add_ridge(std::string &text, const char *of, double ridge)
{
    if (std::isfinite(ridge) && ridge > 0)
        add(text, "  ridge, %-12s %.2f flop/byte\n", of, ridge);
}

void add_job(std::string &text, const Machine &machine, const Job &job)
{
    const Share all = share(machine, job.intensity, job.conditions);
    add(text, "A job in %s precision%s\n", name_of(job.intensity.precision),
        job.conditions.input == Where::gpu ? ", whose GPUs have their input in their memory" : "");
    if (job.intensity.cpu)
        add(text, "  on the CPU          %.4g flop/byte: %s, %s\n", *job.intensity.cpu,
            in_giga(all.cpu_rate * *job.intensity.cpu, "flop/s").c_str(), in_giga(all.cpu_rate, "B/s").c_str());
    for (std::size_t i = 0; i < all.gpu_rates.size() && job.intensity.gpu; i++) {
        const double op =
            overlap(machine, machine.gpus[i], *job.intensity.gpu, job.intensity.precision, job.conditions);
        add(text, "  on GPU %zu            %.4g flop/byte: %s, %s, %.1f %% of the input\n", i, *job.intensity.gpu,
            in_giga(all.gpu_rates[i] * *job.intensity.gpu, "flop/s").c_str(), in_giga(all.gpu_rates[i], "B/s").c_str(),
            100 * all.gpus[i]);
        add(text, "    of a block's time %.1f %% are transfers: with streams it is %.2f times as fast at best\n",
            100 * op, gain_of_streams(op));
    }
    add(text, "  together            p = %.1f %% for the CPU, %s\n", 100 * all.cpu, in_giga(all.rate, "B/s").c_str());
}

/* As gnuplot has text; it is not to see markup in it. */
std::string quoted(const std::string &text)
{
    std::string result = "'";
    for (const char c : text)
        result += c == '\'' ? "''" : std::string(1, c);
    return result + "'";
}

struct Roof {
    std::string title;
    double peak, bandwidth;
    std::optional<double> intensity; /* of the job */
};

std::vector<Roof> roofs_of(const Machine &machine, const std::optional<Job> &job)
{
    const Precision precision = job ? job->intensity.precision : Precision::fp64;
    const Conditions at_host{.path = job ? job->conditions.path : Path::staged};
    const bool resident = job && job->conditions.input == Where::gpu;
    std::vector<Roof> roofs{{"CPU", machine.cpu.peak.at(precision), bandwidth(machine.cpu), {}}};
    if (job)
        roofs[0].intensity = job->intensity.cpu;
    for (std::size_t i = 0; i < machine.gpus.size(); i++) {
        const Gpu &gpu = machine.gpus[i];
        const std::string name = "GPU " + std::to_string(i);
        const std::optional<double> intensity = job ? job->intensity.gpu : std::nullopt;
        roofs.push_back({name + ", input from the host", gpu.peak.at(precision), bandwidth(machine, gpu, at_host),
                         resident ? std::nullopt : intensity});
        roofs.push_back({name + ", input in its memory", gpu.peak.at(precision),
                         bandwidth(machine, gpu, {.input = Where::gpu}), resident ? intensity : std::nullopt});
    }
    std::erase_if(roofs, [](const Roof &roof) { return !(roof.peak > 0) || !std::isfinite(roof.bandwidth); });
    return roofs;
}

const char *terminal_of(const std::string &file)
{
    const std::string kind = std::filesystem::path(file).extension();
    if (kind == ".svg")
        return "svg";
    if (kind == ".png")
        return "pngcairo";
    if (kind == ".pdf")
        return "pdfcairo";
    throw ptsched::Error("the kind of a plot follows from the end of its name: '" + file +
                         "' does not end in .svg, .png or .pdf");
}

} // namespace

std::string text_of(const Machine &machine, const std::optional<Job> &job)
{
    std::string text;
    add(text, "CPU: %s, %u cores\n", machine.cpu.name.c_str(), machine.cpu.cores);
    add(text, "  memory              %s\n", in_giga(machine.cpu.dram, "B/s").c_str());
    add(text, "  to wake all cores   %.1f us\n", machine.cpu.latency * 1e6);
    add_peak(text, machine.cpu.peak);
    add_ridge(text, "double", ridge(machine.cpu, Precision::fp64));
    for (std::size_t i = 0; i < machine.gpus.size(); i++) {
        const Gpu &gpu = machine.gpus[i];
        add(text, "GPU %zu: %s, %.1f GiB\n", i, gpu.name.c_str(), static_cast<double>(gpu.memory) / (1 << 30));
        add(text, "  memory              %s\n", in_giga(gpu.dram, "B/s").c_str());
        add(text, "  from the host       %s\n", in_giga(gpu.to_gpu, "B/s").c_str());
        add(text, "  to the host         %s\n", in_giga(gpu.to_host, "B/s").c_str());
        add(text, "  a block's latency   %.1f us\n", gpu.latency * 1e6);
        add_peak(text, gpu.peak);
        add_ridge(text, "from host", ridge(machine, gpu, Precision::fp64));
        add_ridge(text, "in memory", ridge(machine, gpu, Precision::fp64, {.input = Where::gpu}));
    }
    add(text, "Network: %s\n", in_giga(machine.network, "B/s").c_str());
    if (job)
        add_job(text, machine, *job);
    return text;
}

std::string plot_of(const Machine &machine, const std::optional<Job> &job, const std::string &file)
{
    const std::vector<Roof> roofs = roofs_of(machine, job);
    if (roofs.empty())
        throw ptsched::Error("no peak and bandwidth are known that could be drawn: measure them, with --refresh");
    double first = 1, last = 1;
    const auto reach = [&](double intensity) {
        first = std::min(first, intensity / 16);
        last = std::max(last, intensity * 16);
    };
    for (const Roof &roof : roofs) {
        reach(roof.peak / roof.bandwidth);
        if (roof.intensity && *roof.intensity > 0)
            reach(*roof.intensity);
    }
    std::string text = std::string("set terminal ") + terminal_of(file) + "\nset output " + quoted(file) + "\n";
    text +=
        "set logscale xy\nset grid\nset key bottom right noenhanced\nset xlabel 'flop/byte'\nset ylabel 'Gflop/s'\n";
    text += "set title " +
            quoted(machine.cpu.name + " (" + machine.name + "), " +
                   name_of(job ? job->intensity.precision : Precision::fp64) + " precision") +
            " noenhanced\n";
    add(text, "set xrange [%g:%g]\nplot ", first, last);
    for (std::size_t i = 0; i < roofs.size(); i++) {
        const Roof &roof = roofs[i];
        add(text, "%s(x*%g < %g ? x*%g : %g) with lines lw 2 lc %zu title ", i ? ", " : "", roof.bandwidth / 1e9,
            roof.peak / 1e9, roof.bandwidth / 1e9, roof.peak / 1e9, i + 1);
        text += quoted(roof.title);
    }
    std::string points;
    for (std::size_t i = 0; i < roofs.size(); i++) {
        const Roof &roof = roofs[i];
        if (!roof.intensity || !(*roof.intensity > 0))
            continue;
        add(text, ", '-' with points pt 7 ps 1.5 lc %zu notitle", i + 1);
        add(points, "%g %g\ne\n", *roof.intensity, std::min(roof.peak, *roof.intensity * roof.bandwidth) / 1e9);
    }
    return text + "\n" + points;
}

} // namespace roofline
