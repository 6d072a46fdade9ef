// SPDX-License-Identifier: MIT
#include "libptsched/spmd/run/chief.hpp"

#include "libptsched/spmd/input/source.hpp"
#include "libptsched/spmd/pairs/table.hpp"
#include "libptsched/spmd/pairs/wire.hpp"
#include "libptsched/spmd/run/plan.hpp"
#include "libptsched/spmd/schedule/parts.hpp"

#include <algorithm>
#include <bit>

namespace ptsched::spmd {
namespace {

/* From one line of progress to the next. */
constexpr double progress_seconds = 0.5;
constexpr std::size_t message_bytes = 4 << 20;
/* Parts of ranks stay as long as a run is not longer by more than that. */
constexpr double most_late = 0.05;
/* At first ranks have as much each, if a run is longer by no more than that: those that are alike seem to differ. */
constexpr double nearly_alike = 0.025;
/* Of the first partition: each has combined pairs of its own, which those with the same keys in others cost again. */
constexpr double smallest_combined = 1.0 / 2;

bool are_alike(const std::vector<double> &rates)
{
    const auto count = static_cast<double>(rates.size());
    return lateness(std::vector<double>(rates.size(), 1 / count), rates) <= nearly_alike;
}

double seconds(std::chrono::milliseconds time)
{
    return std::chrono::duration<double>(time).count();
}

} // namespace

std::uint64_t hash_of_job(const Work &work)
{
    const Program &program = work.program;
    std::string text = program.name + '\0' + work.output.path + '\0';
    for (const std::uint64_t number :
         {std::uint64_t{program.key_width}, std::uint64_t{program.value_width}, work.input.bytes(), work.block_bytes,
          work.partitions, std::uint64_t{work.ordered}, static_cast<std::uint64_t>(work.output.where),
          std::uint64_t{work.output.value_bytes}, std::uint64_t{program.combines()},
          std::uint64_t{program.reduce != nullptr}, static_cast<std::uint64_t>(program.order)})
        text += std::to_string(number) + ' ';
    return hash_of(text);
}

Chief::Chief(Member &member, const Work &work, std::span<const std::byte> parameters, std::uint32_t run,
             const std::shared_ptr<Spill> &spill, const Stopwatch &watch, std::vector<schedule::Home> homes,
             bool is_kept, bool makes_few)
    : member_(member), link_(member.link()), work_(work), parameters_(parameters), run_(run), spill_(spill),
      watch_(watch), homes_(std::move(homes)), is_kept_(is_kept), makes_few_(makes_few), is_alive_(link_.ranks(), true),
      heard_(link_.ranks(), watch.now()), partial_(link_.ranks()), told_(link_.ranks()), come_(link_.ranks()),
      has_reduced_(link_.ranks()), said_(link_.ranks())
{
}

std::vector<unsigned> Chief::alive() const
{
    std::vector<unsigned> ranks;
    for (unsigned rank = 0; rank < is_alive_.size(); rank++)
        if (is_alive_[rank])
            ranks.push_back(rank);
    return ranks;
}

void Chief::send(unsigned to, const Head &head, std::string_view bytes)
{
    link_.send(to, make_message(head, bytes));
}

void Chief::send_all(const Head &head, std::string_view bytes)
{
    for (const unsigned rank : alive())
        send(rank, head, bytes);
}

void Chief::handle(const Message &message)
{
    const Head head = head_of(message.bytes);
    const unsigned from = message.from;
    if (!is_alive_.at(from))
        return;
    heard_[from] = watch_.now();
    switch (head.tag) {
    case Tag::hello:
        return hello(from, head, text_of(message.bytes));
    case Tag::want:
        return want(from);
    case Tag::done:
        return done(from, head, body_of(message.bytes));
    case Tag::returned:
        if (stage_ == Stage::map)
            master_->give_back(from, head.a, watch_.now());
        return;
    case Tag::beat:
        partial_[from] = head.a;
        return;
    case Tag::failed:
        throw Error(text_of(message.bytes));
    case Tag::result:
        results_[static_cast<std::uint32_t>(head.a)].chunks.emplace_back(
            spill_, unpack(body_of(message.bytes), work_.program.key_width, work_.program.value_width));
        return;
    case Tag::reduced:
        /* It is read when nobody waits for the result any more. */
        said_[from] = text_of(message.bytes);
        has_reduced_[from] = true;
        return;
    default:
        throw Error("rank " + std::to_string(from) + " sent what only rank 0 sends");
    }
}

void Chief::hello(unsigned from, const Head &head, const std::string &name)
{
    if (!job_)
        job_ = hash_of_job(work_);
    if (head.a != *job_)
        throw Error("rank " + std::to_string(from) + " runs job \"" + name + "\", rank 0 job \"" + work_.program.name +
                    "\": all ranks are to run the same jobs in the same order, with the same " + "input and options");
    told_[from] = {std::bit_cast<double>(head.b), std::bit_cast<double>(head.c)};
    begin();
}

/* Of those that have said hello. */
bool Chief::are_rates_known() const
{
    return std::all_of(told_.begin(), told_.end(),
                       [](const std::optional<Told> &told) { return !told || told->rate > 0; });
}

/* Of all ranks in one unit: bytes per second, or guesses as long as one of them has no more. */
std::vector<double> Chief::rates() const
{
    const bool are_known = are_rates_known();
    std::vector<double> rates;
    for (const std::optional<Told> &told : told_)
        rates.push_back(!told ? 1 : are_known ? told->rate : told->guess);
    return rates;
}

schedule::MasterOptions Chief::options_by(const std::vector<double> &rates) const
{
    schedule::MasterOptions options;
    options.partitions = work_.partitions;
    if (partitions_of(work_, link_.ranks()) == 1)
        options.least_bytes = std::max<std::uint64_t>(work_.input.bytes(), 1);
    options.grid = grid_of(work_);
    if (work_.program.combines()) {
        options.smallest = smallest_combined;
        if (work_.partitions == 0 && are_rates_known())
            options.partitions = link_.ranks();
    }
    options.homes = homes_;
    /* What is the same again and again need not find out each time who is how fast. */
    if (is_kept_ && work_.partitions == 0 && link_.ranks() > 1 && failed_.empty() &&
        (homes_.empty() || lateness(parts_in(homes_, rates.size()), rates) > most_late))
        options.homes = schedule::parts_by(
            are_alike(rates) ? std::vector<double>(rates.size(), 1.0) : rates, {0, work_.input.bytes()},
            [&source = *work_.input.source()](std::uint64_t at) { return source.border(at); }, options.grid);
    return options;
}

/* When all that are there have said hello. */
void Chief::begin()
{
    for (const unsigned rank : alive())
        if (!told_[rank] || stage_ != Stage::hello)
            return;
    const std::vector<double> rates = this->rates();
    schedule::MasterOptions options = options_by(rates);
    const bool has_homes = !options.homes.empty();
    master_.emplace(
        rates, [source = work_.input.source()](std::uint64_t at) { return source->border(at); }, std::move(options));
    for (const unsigned rank : failed_)
        master_->fail(rank, true);
    if (!work_.input.empty())
        master_->add({0, work_.input.bytes()});
    stage_ = Stage::map;
    gathers_ = makes_few_ && link_.ranks() > 1 && work_.output.where != Output::Where::each;
    send_all({.tag = Tag::begin, .run = run_, .a = buckets(), .b = has_homes, .c = gathers_}, as_text(parameters_));
    for (const unsigned rank : has_homes ? alive() : std::vector<unsigned>())
        want(rank);
    check_mapped();
}

/* What is only to be put in order is so already where blocks make keys of their own. */
std::uint64_t Chief::buckets() const
{
    if (gathers_)
        return 1;
    const bool is_map_alone = !work_.program.combines() && !work_.program.reduce;
    const std::uint64_t threads = is_map_alone || makes_few_ ? 1 : member_.workers().threads();
    return link_.ranks() * std::clamp<std::uint64_t>(threads, 1, 8);
}

void Chief::want(unsigned from)
{
    if (stage_ != Stage::map)
        return;
    const std::optional<schedule::Partition> part = master_->next(from, watch_.now());
    if (!part) {
        waiting_.insert(from);
        return;
    }
    waiting_.erase(from);
    holders_[part->id].insert(from);
    send(from,
         {.tag = Tag::part, .run = run_, .a = part->id, .b = part->range.begin, .c = part->range.end, .d = part->copy});
}

void Chief::done(unsigned from, const Head &head, std::span<const std::byte> body)
{
    const std::uint64_t id = head.a;
    const bool counts = master_->done(from, id, watch_.now());
    if (gathers_)
        take(from, head, body, counts);
    if (!counts)
        master_->give_back(from, id, watch_.now());
    partial_[from] = 0;
    send(from, {.tag = Tag::verdict, .run = run_, .a = id, .b = counts});
    std::set<unsigned> &holders = holders_[id];
    holders.erase(from);
    for (const unsigned other : holders)
        if (counts && is_alive_[other])
            send(other, {.tag = Tag::give_up, .run = run_, .a = id});
    if (holders.empty())
        holders_.erase(id);
    check_mapped();
    serve_waiting();
}

/* What another rank has to report comes behind it; this one does so when it has reduced, which may have been before. */
void Chief::take(unsigned from, const Head &head, std::span<const std::byte> body, bool counts)
{
    Come &come = come_[from];
    come.is_some = true;
    come.is_all = come.is_all && head.b;
    if (from != link_.rank())
        has_reduced_[from] = false;
    if (!counts || body.empty())
        return;
    Run run{.place = head.c};
    run.chunks.emplace_back(spill_, unpack(body, work_.program.key_width, work_.program.value_width));
    come.runs.push_back(std::move(run));
}

std::vector<Run> Chief::take_few()
{
    std::vector<Run> all;
    for (Come &come : come_)
        for (Run &run : std::exchange(come.runs, {}))
            all.push_back(std::move(run));
    return all;
}

void Chief::check_mapped()
{
    if (stage_ != Stage::map || !master_->finished())
        return;
    stage_ = Stage::reduce;
    waiting_.clear();
    const std::vector<unsigned> ranks = alive();
    const bool are_here =
        gathers_ && std::all_of(come_.begin(), come_.end(), [](const Come &one) { return one.is_all; });
    send_all({.tag = Tag::mapped, .run = run_, .a = are_here},
             {reinterpret_cast<const char *>(ranks.data()), ranks.size() * sizeof(unsigned)});
}

void Chief::has_reduced(const Report::Rank &report)
{
    own_report_ = report;
    has_reduced_[link_.rank()] = true;
}

/* Where rank 0 reduces all, ranks that have done nothing have nothing to say. */
bool Chief::is_reduced() const
{
    if (stage_ != Stage::reduce)
        return false;
    for (unsigned rank = 0; rank < is_alive_.size(); rank++) {
        const bool has_nothing = gathers_ && rank != link_.rank() && !come_[rank].is_some;
        if (is_alive_[rank] && !has_reduced_[rank] && !has_nothing)
            return false;
    }
    return true;
}

void Chief::serve_waiting()
{
    for (const unsigned rank : std::set(waiting_))
        want(rank);
}

void Chief::tick()
{
    const double now = watch_.now();
    for (const unsigned rank : link_.lost())
        lose(rank, "it is gone");
    const double patience = seconds(member_.options().patience);
    for (const unsigned rank : alive())
        if (rank != 0 && now - heard_[rank] > patience && stage_ != Stage::finished)
            lose(rank,
                 "nothing has been heard of it for " + std::to_string(member_.options().patience.count()) + " ms");
    if (now - beaten_ < beat_seconds)
        return;
    beaten_ = now;
    if (stage_ == Stage::map)
        serve_waiting();
    for (const unsigned rank : alive())
        if (rank != 0)
            send(rank, {.tag = Tag::beat, .run = run_});
    show_progress();
}

/* Before results are on their way to other ranks, what one had can be done again. */
void Chief::lose(unsigned rank, const std::string &why)
{
    if (!is_alive_.at(rank))
        return;
    is_alive_[rank] = false;
    come_[rank] = {};
    failed_.push_back(rank);
    waiting_.erase(rank);
    if (stage_ == Stage::finished)
        return;
    const std::string what = "rank " + std::to_string(rank) + " has failed: " + why;
    if (!link_.survives() || stage_ == Stage::reduce) {
        link_.give_up();
        throw Error(what +
                    (link_.survives() ? ", after its results were on their way" : ", and MPI cannot go on without it"));
    }
    if (stage_ == Stage::hello)
        return begin();
    for (auto &[id, holders] : holders_)
        holders.erase(rank);
    master_->fail(rank, true);
    serve_waiting();
    check_mapped();
}

void Chief::stop(const std::string &why)
{
    stage_ = Stage::finished;
    send_all({.tag = Tag::stop, .run = run_}, why);
}

std::map<std::uint32_t, Run> Chief::take_results()
{
    stage_ = Stage::finished;
    return std::move(results_);
}

void Chief::finish(const Pairs *whole)
{
    Pairs some(work_.program.key_width, work_.program.value_width);
    const bool is_wanted = whole && alive().size() > 1;
    for (std::size_t i = 0; is_wanted && i < whole->size();) {
        some.clear();
        for (; i < whole->size() && some.bytes() < message_bytes; i++)
            some.append(whole->keys[i], whole->values[i]);
        Buffer packed;
        pack(some, packed);
        for (const unsigned rank : alive())
            if (rank != 0)
                send(rank, {.tag = Tag::output, .run = run_}, as_text({packed.data(), packed.size()}));
    }
    send_all({.tag = Tag::finish, .run = run_});
}

void Chief::show_progress()
{
    const double now = watch_.now();
    if (!member_.options().progress || stage_ == Stage::hello || now - shown_ < progress_seconds)
        return;
    Progress progress;
    progress.all = work_.input.bytes();
    progress.seconds = now;
    progress.done = master_->done_bytes();
    for (const std::uint64_t bytes : partial_)
        progress.done += bytes;
    progress.done = std::min(progress.done, progress.all);
    const double lately = static_cast<double>(progress.done - std::min(progress.done, shown_bytes_)) / (now - shown_);
    rate_ = shown_bytes_ > 0 ? 0.5 * rate_ + 0.5 * lately : lately;
    progress.rate = rate_;
    if (rate_ > 0)
        progress.left = static_cast<double>(progress.all - progress.done) / rate_;
    progress.stage = stage_ == Stage::map ? "map" : "reduce";
    shown_ = now;
    shown_bytes_ = progress.done;
    member_.options().progress(progress);
}

std::vector<schedule::Home> Chief::homes() const
{
    return master_ ? master_->homes() : std::vector<schedule::Home>();
}

Report::Rank Chief::report_of(unsigned rank) const
{
    if (rank == link_.rank())
        return own_report_;
    if (!said_[rank].empty())
        return unpack_report(said_[rank]);
    Report::Rank nothing;
    nothing.rank = rank;
    return nothing;
}

Report Chief::report() const
{
    Report report;
    report.job = work_.program.name;
    report.seconds = watch_.now();
    report.input_bytes = work_.input.bytes();
    for (const unsigned rank : alive())
        report.ranks.push_back(report_of(rank));
    std::uint64_t all = 0, cpu = 0;
    for (const Report::Rank &rank : report.ranks)
        for (const Report::Device &device : rank.devices) {
            all += device.bytes;
            cpu += device.name == "cpu" ? device.bytes : 0;
        }
    report.p = all > 0 ? static_cast<double>(cpu) / static_cast<double>(all) : 1;
    report.failed = failed_;
    return report;
}

} // namespace ptsched::spmd
