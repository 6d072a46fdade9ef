// SPDX-License-Identifier: MIT
#include "libptsched/base/trace_events.hpp"

#include <cstdio>
#include <utility>

namespace ptsched {

namespace {

std::string quoted(const std::string &text)
{
    std::string out = "\"";
    for (char c : text) {
        char code[8];
        if (static_cast<unsigned char>(c) < 0x20) {
            std::snprintf(code, sizeof(code), "\\u%04x", static_cast<unsigned>(c));
            out += code;
            continue;
        }
        if (c == '"' || c == '\\')
            out += '\\';
        out += c;
    }
    return out + '"';
}

/* Exactly, so that what does not overlap does not seem to. */
std::string microseconds(std::chrono::nanoseconds time)
{
    char text[48];
    const long long ns = time.count();
    std::snprintf(text, sizeof(text), "%lld.%03lld", ns / 1000, ns % 1000);
    return text;
}

} // namespace

TraceEvents::TraceEvents(std::uint64_t lost)
    : text_("{\"displayTimeUnit\":\"ns\",\"otherData\":{\"lost events\":" + std::to_string(lost) +
            "},\"traceEvents\":[\n")
{
}

void TraceEvents::begin_event(const char *kind, const std::string &name, unsigned group, unsigned row)
{
    text_ += std::string(is_first_ ? "" : ",\n") + "{\"ph\":\"" + kind + "\",\"name\":" + quoted(name) +
             ",\"pid\":" + std::to_string(group) + ",\"tid\":" + std::to_string(row);
    is_first_ = false;
}

void TraceEvents::add_label(const char *what, const std::string &name, unsigned group, unsigned row)
{
    begin_event("M", what, group, row);
    text_ += ",\"args\":{\"name\":" + quoted(name) + "}}";
}

void TraceEvents::name_group(unsigned group, const std::string &name)
{
    add_label("process_name", name, group, 0);
}

void TraceEvents::name_row(unsigned group, unsigned row, const std::string &name)
{
    add_label("thread_name", name, group, row);
}

void TraceEvents::add_span(unsigned group, unsigned row, const std::string &name, std::chrono::nanoseconds begin,
                           std::chrono::nanoseconds length, std::initializer_list<Note> notes)
{
    begin_event("X", name, group, row);
    text_ += ",\"ts\":" + microseconds(begin) + ",\"dur\":" + microseconds(length);
    std::string values;
    for (const Note &note : notes)
        if (note.value)
            values += (values.empty() ? "\"" : ",\"") + std::string(note.name) + "\":" + std::to_string(note.value);
    text_ += values.empty() ? "}" : ",\"args\":{" + values + "}}";
}

std::string TraceEvents::take()
{
    return std::exchange(text_, {});
}

std::string TraceEvents::take_end()
{
    text_ += "\n]}\n";
    return take();
}

} // namespace ptsched
