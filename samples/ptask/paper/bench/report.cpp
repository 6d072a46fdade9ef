// SPDX-License-Identifier: MIT
#include "samples/ptask/paper/bench/bench.hpp"

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>

namespace ptsched::paper {

namespace {

std::string quoted(const std::string &text)
{
    std::string out = "\"";
    for (char c : text) {
        if (c == '"' || c == '\\')
            out += '\\';
        out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
    return out + '"';
}

} // namespace

bool Options::wants(const std::string &name) const
{
    for (const std::string &wanted : only) {
        const auto &[shorter, longer] =
            std::minmax(wanted, name, [](const auto &a, const auto &b) { return a.size() < b.size(); });
        if (longer.compare(0, shorter.size(), shorter) == 0)
            return true;
    }
    return only.empty();
}

void Report::record(const std::string &name, double value, const std::string &unit, const std::string &against)
{
    if (!std::isfinite(value))
        fail(name + ": what was measured gives no number");
    else
        records_.push_back({name, unit, against, value});
}

void Report::write_json(const std::string &path) const
{
    std::unique_ptr<std::FILE, decltype(&std::fclose)> file(std::fopen(path.c_str(), "w"), std::fclose);
    if (!file)
        throw Error("cannot write " + path + ": " + std::strerror(errno));
    std::fputs("[", file.get());
    for (std::size_t i = 0; i < records_.size(); i++) {
        const Record &r = records_[i];
        std::fprintf(file.get(), "%s\n {\n  \"name\": %s,\n  \"value\": %.9g,\n  \"unit\": %s,\n", i ? "," : "",
                     quoted(r.name).c_str(), r.value, quoted(r.unit).c_str());
        std::fprintf(file.get(), "  \"against\": %s,\n  \"command\": %s\n }", quoted(r.against).c_str(),
                     quoted(command_).c_str());
    }
    std::fputs("\n]\n", file.get());
    if (std::ferror(file.get()) || std::fclose(file.release()))
        throw Error("cannot write " + path + ": " + std::strerror(errno));
}

void Report::fail(const std::string &what)
{
    failed_ = true;
    std::fflush(stdout);
    std::fprintf(stderr, "bench-ptask: %s\n", what.c_str());
}

} // namespace ptsched::paper
