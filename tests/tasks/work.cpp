// SPDX-License-Identifier: MIT
#include "tests/tasks/work.hpp"

#include <algorithm>

namespace test {

namespace {

using tasks::Mode;

constexpr unsigned most_works = 24, most_inside = 4, most_depth = 3, pitch_of_tiles = 32;

/* Combines by exclusive or; on unsigned char, as its sums. */
struct ExclusiveOr {
    template <typename T> static constexpr T first() { return T{}; }
    template <typename T> constexpr T operator()(const T &a, const T &b) const { return a ^ b; }
};

unsigned below(Random &random, unsigned count)
{
    return static_cast<unsigned>(random() % count);
}

/* From 1 to @most, small ones more often. */
unsigned some(Random &random, unsigned most)
{
    return 1 + below(random, 1 + below(random, most));
}

bool once_in(Random &random, unsigned count)
{
    return below(random, count) == 0;
}

/* What a part may have inside another one: of the rows of it, or of the block, which is a row. */
Part part_of(Random &random, const Part &whole)
{
    Part part = whole;
    if (whole.rows > 1) {
        const unsigned row = below(random, whole.rows), column = below(random, whole.row_bytes);
        part.begin = whole.begin + row * whole.pitch + column;
        part.rows = some(random, whole.rows - row);
        part.row_bytes = some(random, whole.row_bytes - column);
        return part;
    }
    const unsigned at = below(random, whole.row_bytes), left = whole.row_bytes - at;
    part.begin = whole.begin + at;
    part.row_bytes = some(random, left);
    if (left > pitch_of_tiles && once_in(random, 2)) {
        part.pitch = some(random, pitch_of_tiles);
        part.row_bytes = some(random, part.pitch);
        part.rows = some(random, std::min(8U, (left - part.row_bytes) / part.pitch + 1));
    }
    return part;
}

/* Which bytes of the block tasks write; two parts of one task have none in common, but for what both read. */
bool are_apart(const Part &one, const Part &other)
{
    if (one.mode == Mode::in && other.mode == Mode::in)
        return true;
    for (unsigned i = 0; i < one.rows; i++)
        for (unsigned j = 0; j < other.rows; j++) {
            const unsigned first = one.begin + i * one.pitch, second = other.begin + j * other.pitch;
            if (first < second + other.row_bytes && second < first + one.row_bytes)
                return false;
        }
    return true;
}

void choose_mode(Random &random, Part &part, const Part &whole)
{
    constexpr Mode modes[] = {Mode::in,    Mode::in,          Mode::in,          Mode::out,      Mode::out,
                              Mode::inout, Mode::commutative, Mode::commutative, Mode::reduction};
    part.mode = tasks::writes(whole.mode) ? modes[below(random, std::size(modes))] : Mode::in;
    part.exclusive_or = false;
    if (part.mode == Mode::reduction) {
        part.exclusive_or = once_in(random, 2);
        /* Reductions are of arrays. */
        part.rows = 1;
    }
}

/* A mode of one that has tasks inside: weak ones, mostly. */
void choose_outer_mode(Random &random, Part &part, const Part &whole)
{
    constexpr Mode modes[] = {Mode::weak_inout, Mode::weak_inout, Mode::weak_inout, Mode::weak_out,
                              Mode::inout,      Mode::out,        Mode::weak_in};
    part.mode = modes[below(random, std::size(modes))];
    if (!tasks::writes(whole.mode))
        part.mode = tasks::is_weak(part.mode) ? Mode::weak_in : Mode::in;
}

void add_parts(Random &random, Work &work, const std::vector<Part> &wholes)
{
    for (unsigned wanted = some(random, FOLD_MOST_PARTS); wanted > 0; wanted--) {
        const Part &whole = wholes[below(random, static_cast<unsigned>(wholes.size()))];
        Part part = part_of(random, whole);
        if (work.inside.empty())
            choose_mode(random, part, whole);
        else
            choose_outer_mode(random, part, whole);
        if (std::all_of(work.parts.begin(), work.parts.end(),
                        [&](const Part &other) { return are_apart(part, other); }))
            work.parts.push_back(part);
    }
}

Work make_work(Random &random, const std::vector<Part> &wholes, unsigned gpus, unsigned depth);

/* One that declares @part to be written, all of it. */
Work make_writer(Random &random, const Part &part)
{
    Work work;
    work.seed = static_cast<unsigned>(random());
    work.parts = {part};
    work.parts.front().mode = Mode::out;
    return work;
}

void fill(Random &random, Work &work, unsigned gpus, unsigned depth)
{
    const unsigned count = some(random, most_inside);
    work.inside.clear();
    /* Of what is weakly written before it is read, all is. */
    for (const Part &part : work.parts)
        if (part.mode == Mode::weak_out)
            work.inside.push_back(make_writer(random, part));
    for (unsigned i = 0; i < count; i++)
        work.inside.push_back(make_work(random, work.parts, gpus, depth + 1));
    work.comes_back = once_in(random, 3);
}

Work make_work(Random &random, const std::vector<Part> &wholes, unsigned gpus, unsigned depth)
{
    Work work;
    work.seed = static_cast<unsigned>(random());
    work.priority = once_in(random, 4) ? static_cast<int>(below(random, 5)) - 2 : 0;
    const bool is_outer = depth < most_depth && once_in(random, 4);
    if (is_outer)
        work.inside.resize(1);
    add_parts(random, work, wholes);
    if (is_outer) {
        fill(random, work, gpus, depth);
    } else if (gpus) {
        constexpr On places[] = {On::host, On::gpu, On::gpu, On::either};
        work.on = places[below(random, std::size(places))];
        if (work.on == On::gpu && once_in(random, 3))
            work.device = static_cast<int>(below(random, gpus));
    }
    return work;
}

void fold_here(const Work &work, unsigned char *block)
{
    unsigned char old[FOLD_MOST_BYTES];
    const Fold fold =
        fold_of(work, [&](unsigned i) { return std::pair<void *, std::size_t>(block + work.parts[i].begin, 0); });
    fold_writes(&fold, fold_reads(&fold), old, [] {});
}

void run_in_order(const std::vector<Work> &works, Expected &expected)
{
    for (const Work &work : works) {
        if (work.kind == Work::Kind::wait_for_range)
            expected.seen.push_back(content_of(work.parts.front(), expected.block.data()));
        if (work.kind != Work::Kind::task)
            continue;
        fold_here(work, expected.block.data());
        run_in_order(work.inside, expected);
        if (work.comes_back)
            fold_here(work, expected.block.data());
    }
}

std::string describe(const Part &part)
{
    std::string text = tasks::to_string(part.mode);
    if (part.mode == Mode::reduction)
        text += part.exclusive_or ? "^" : "+";
    text += '(' + std::to_string(part.begin) + ", ";
    if (part.rows > 1)
        text += std::to_string(part.rows) + " rows, " + std::to_string(part.pitch) + " apart, of ";
    return text + std::to_string(part.row_bytes) + ')';
}

void describe(const std::vector<Work> &works, unsigned depth, std::string &text)
{
    constexpr const char *places[] = {"host", "gpu", "either"}, *kinds[] = {"", "wait", "wait for a range"};
    for (const Work &work : works) {
        text += "# " + std::string(4 * depth, ' ');
        text += work.kind == Work::Kind::task ? places[static_cast<unsigned>(work.on)]
                                              : kinds[static_cast<unsigned>(work.kind)];
        if (work.device >= 0)
            text += std::to_string(work.device);
        for (const Part &part : work.parts)
            text += ' ' + describe(part);
        text += work.comes_back ? ", comes back after:\n" : work.inside.empty() ? "\n" : ", and inside:\n";
        describe(work.inside, depth + 1, text);
    }
}

/* What is weakly written before it is read needs who writes it. */
bool can_go(const Work &outer, std::size_t inner)
{
    const auto weak_outs = std::count_if(outer.parts.begin(), outer.parts.end(),
                                         [](const Part &part) { return part.mode == Mode::weak_out; });
    return inner >= static_cast<std::size_t>(weak_outs);
}

/* Calls @visit for each list of works in @set that is @works less something. */
template <typename Visit> void each_smaller(std::vector<Work> &works, const Work *outer, const Visit &visit)
{
    for (std::size_t i = 0; i < works.size(); i++) {
        if (!outer || can_go(*outer, i)) {
            Work gone = std::move(works[i]);
            works.erase(works.begin() + static_cast<std::ptrdiff_t>(i));
            visit();
            works.insert(works.begin() + static_cast<std::ptrdiff_t>(i), std::move(gone));
        }
        Work &work = works[i];
        for (std::size_t p = 0; work.inside.empty() && work.parts.size() > 1 && p < work.parts.size(); p++) {
            const Part gone = work.parts[p];
            work.parts.erase(work.parts.begin() + static_cast<std::ptrdiff_t>(p));
            visit();
            work.parts.insert(work.parts.begin() + static_cast<std::ptrdiff_t>(p), gone);
        }
        each_smaller(work.inside, &work, visit);
    }
}

} // namespace

FoldKind Part::kind() const
{
    switch (mode) {
    case Mode::in:
        return fold_in;
    case Mode::out:
        return fold_out;
    case Mode::inout:
        return fold_inout;
    case Mode::commutative:
        return fold_commutative;
    case Mode::reduction:
        return exclusive_or ? fold_xor : fold_sum;
    default:
        return fold_nothing;
    }
}

tasks::Access Part::access(std::byte *block) const
{
    const tasks::Combine *const combine = mode != Mode::reduction ? nullptr
                                          : exclusive_or
                                              ? &tasks::detail::CombineOf<unsigned char, ExclusiveOr>::combine
                                              : &tasks::detail::CombineOf<unsigned char, tasks::Sum>::combine;
    return {{block + begin, row_bytes, rows, rows > 1 ? pitch : 0}, mode, combine};
}

Set make_set(Random &random, unsigned gpus)
{
    Set set;
    set.bytes = 1 + below(random, once_in(random, 3) ? 16 : FOLD_MOST_BYTES);
    const std::vector<Part> block{{0, 1, set.bytes, set.bytes, Mode::weak_inout, false}};
    for (unsigned i = some(random, most_works); i > 0; i--) {
        Work work;
        if (once_in(random, 12)) {
            work.kind = once_in(random, 3) ? Work::Kind::wait : Work::Kind::wait_for_range;
            if (work.kind == Work::Kind::wait_for_range)
                work.parts = {part_of(random, block.front())};
        } else {
            work = make_work(random, block, gpus, 0);
        }
        for (Part &part : work.parts)
            if (work.kind != Work::Kind::task)
                part.mode = Mode::in;
        set.works.push_back(std::move(work));
    }
    return set;
}

Bytes random_bytes(Random &random, unsigned count)
{
    Bytes bytes(count);
    std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<unsigned char>(random()); });
    return bytes;
}

Expected run_in_order(const Set &set, Bytes block)
{
    Expected expected{{}, std::move(block)};
    run_in_order(set.works, expected);
    return expected;
}

Bytes content_of(const Part &part, const unsigned char *block)
{
    Bytes bytes;
    for (unsigned row = 0; row < part.rows; row++) {
        const unsigned char *const begin = block + part.begin + row * part.pitch;
        bytes.insert(bytes.end(), begin, begin + part.row_bytes);
    }
    return bytes;
}

std::string describe(const Set &set)
{
    std::string text = "# a block of " + std::to_string(set.bytes) + " bytes\n";
    describe(set.works, 0, text);
    return text;
}

std::vector<Set> smaller(const Set &set)
{
    std::vector<Set> all;
    Set changing = set;
    each_smaller(changing.works, nullptr, [&] { all.push_back(changing); });
    return all;
}

} // namespace test
