// SPDX-License-Identifier: MIT
#include "libptsched/spmd/run/timeline.hpp"

#include "libptsched/base/trace_events.hpp"
#include "libptsched/spmd/output/whole_file.hpp"

namespace ptsched::spmd {
namespace {

std::chrono::nanoseconds nanoseconds(double seconds)
{
    return std::chrono::nanoseconds(static_cast<std::int64_t>(seconds * 1e9));
}

} // namespace

void Timeline::add(const std::string &row, unsigned lane, const std::string &name, double begin, double end,
                   std::uint64_t bytes)
{
    if (!wanted_)
        return;
    const Guard guard(mutex_);
    rows_[{row, lane}].push_back({name, begin, end, bytes});
}

void Timeline::write(const std::string &path, unsigned rank)
{
    const Guard guard(mutex_);
    TraceEvents events(0);
    events.name_group(rank, "rank " + std::to_string(rank));
    unsigned row = 0;
    for (const auto &[name, spans] : rows_) {
        events.name_row(rank, row, name.first + " " + std::to_string(name.second));
        for (const Span &span : spans)
            events.add_span(rank, row, span.name, nanoseconds(span.begin),
                            nanoseconds(span.end) - nanoseconds(span.begin), {{"bytes", span.bytes}});
        row++;
    }
    WholeFile file(path);
    file.write(events.take_end());
    file.finish();
    file.publish();
}

} // namespace ptsched::spmd
