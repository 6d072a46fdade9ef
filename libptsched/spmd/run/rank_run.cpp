// SPDX-License-Identifier: MIT
#include "libptsched/spmd/run/rank_run.hpp"

#include "libptsched/spmd/pairs/wire.hpp"

#include <algorithm>
#include <bit>

namespace ptsched::spmd {
namespace {

constexpr std::chrono::milliseconds nap{50}, short_nap{1};
constexpr double look_seconds = 20e-3;

} // namespace

RankRun::RankRun(Member &member, const Work &work, Devices &devices, const Known &known,
                 std::span<const std::byte> parameters, std::uint32_t run)
    : member_(member), link_(member.link()), work_(work), devices_(devices), known_(known), run_(run),
      spill_(std::make_shared<Spill>(member.memory(), member.options().folder)),
      timeline_(!member.options().timeline.empty()),
      parameters_(parameters.begin(), parameters.end()), setting_{.work = work,
                                                                  .spill = spill_,
                                                                  .workers = member.workers(),
                                                                  .timeline = timeline_,
                                                                  .watch = watch_,
                                                                  .again = known.again,
                                                                  .grid = grid_of(work),
                                                                  .combiner = devices.combiner.get()},
      pairs_(work.program.key_width, work.program.value_width), tasks_(member.workers())
{
    report_.rank = link_.rank();
    if (work.output.value_bytes == 0 || !member.is_first())
        return;
    placed_.emplace(work.output.into, work.output.value_bytes);
    setting_.placed = &*placed_;
}

/* What a device has under way is waited for, and no more of it is begun. */
RankRun::~RankRun()
{
    if (map_)
        map_->stop();
    map_.reset();
}

/* Whatever goes wrong on a rank, rank 0 tells all, and each throws what it says. */
Member::Result RankRun::run()
{
    try {
        loop();
        send_rest();
    } catch (const Stopped &stopped) {
        throw Error(stopped.why);
    } catch (const std::exception &error) {
        const std::string rank = link_.ranks() > 1 ? ", rank " + std::to_string(link_.rank()) : "";
        fail("job \"" + work_.program.name + "\"" + rank + ": " + error.what());
    }
    if (timeline_.is_wanted())
        timeline_.write(member_.options().timeline + (link_.ranks() > 1 ? "." + std::to_string(link_.rank()) : ""),
                        link_.rank());
    if (known_.again)
        keep_homes();
    if (plan_.probes)
        share_by_rates(plan_, devices_.rates);
    learn();
    Report report = chief_ ? chief_->report() : Report{};
    if (!chief_) {
        report.job = work_.program.name;
        report.seconds = watch_.now();
        report.input_bytes = work_.input.bytes();
        report.ranks = {report_};
    }
    report.model_p = plan_.model_p;
    std::uint64_t pairs = 0;
    for (const Report::Rank &rank : report.ranks)
        pairs += rank.pairs_mapped;
    devices_.makes_few = known_.again && !work_.program.reduce && pairs <= few_pairs;
    return {std::move(pairs_), std::move(report)};
}

void RankRun::fail(const std::string &why)
{
    if (map_)
        map_->stop();
    if (chief_) {
        chief_->stop(why);
        throw Error(why);
    }
    send(0, head(Tag::failed), why);
    const double until = watch_.now() + std::chrono::duration<double>(member_.options().patience).count();
    while (watch_.now() < until) {
        const std::optional<Message> message = link_.receive(nap);
        if (!message || message->from != 0)
            continue;
        const Head got = head_of(message->bytes);
        if (got.run == run_ && got.tag == Tag::stop)
            throw Error(text_of(message->bytes));
    }
    link_.give_up();
    throw Error(why);
}

void RankRun::loop()
{
    if (member_.is_first())
        chief_.emplace(member_, work_, parameters_, run_, spill_, watch_, devices_.ranks, known_.again,
                       devices_.makes_few);
    say_hello();
    heard_ = watch_.now();
    while (!is_finished_) {
        if (std::optional<Message> message = link_.receive(is_short_of_time() ? nap.zero() : nap))
            handle(std::move(*message));
        run_events();
        pump();
        beat();
        if (chief_ && chief_->is_reduced())
            make_whole();
    }
}

/* An iteration may be shorter than it takes to wake a thread; plans have left it a core for a while. */
bool RankRun::is_short_of_time() const
{
    return plan_.looks && watch_.now() < look_seconds;
}

/*
 * What others wait for is there before this rank turns to something else, during which MPI has none of its time. Who
 * has taken nothing for long is left alone with it.
 */
void RankRun::send_rest()
{
    const double patience = std::chrono::duration<double>(member_.options().patience).count();
    std::size_t left = link_.unsent();
    for (double since = watch_.now(); left > 0 && watch_.now() - since < patience;) {
        std::optional<Message> message = link_.receive(is_short_of_time() ? nap.zero() : short_nap);
        if (message && head_of(message->bytes).run != run_)
            handle(std::move(*message));
        if (link_.unsent() < left)
            since = watch_.now();
        left = link_.unsent();
    }
}

void RankRun::say_hello()
{
    const std::uint64_t partitions = partitions_of(work_, link_.ranks());
    if (devices_.rates.empty())
        devices_.rates = member_.known_rates(work_.program, devices_, known_.again);
    plan_ = make_plan(work_, devices_, known_, work_.input.bytes() / partitions, link_.ranks());
    /* A run that moves input is slower than those after it. */
    measures_ = !known_.again || (plan_.stays && !plan_.moves) || devices_.rates.empty();
    for (const std::unique_ptr<Engine> &engine : devices_.engines)
        if (known_.again && !plan_.stays)
            engine->forget_input();
    for (const Mapper &mapper : plan_.mappers)
        report_.devices.push_back({.name = mapper.engine->name()});
    Head hello = head(Tag::hello, hash_of_job(work_));
    hello.b = std::bit_cast<std::uint64_t>(plan_.rate);
    hello.c = std::bit_cast<std::uint64_t>(plan_.guess);
    send(0, hello, work_.program.name);
    for (Message &message : std::exchange(member_.early, {}))
        handle(std::move(message));
}

void RankRun::send(unsigned to, const Head &head, std::string_view bytes)
{
    link_.send(to, make_message(head, bytes));
}

void RankRun::post(std::function<void()> event)
{
    {
        const Guard guard(events_mutex_);
        events_.push_back(std::move(event));
    }
    link_.wake();
}

void RankRun::run_events()
{
    for (;;) {
        std::function<void()> event;
        {
            const Guard guard(events_mutex_);
            if (events_.empty())
                return;
            event = std::move(events_.front());
            events_.pop_front();
        }
        event();
    }
}

/* What it throws, the rank's thread does. */
void RankRun::do_now(const std::function<void()> &function)
{
    std::exception_ptr error;
    try {
        function();
    } catch (...) {
        error = std::current_exception();
    }
    if (error)
        post([error = std::move(error)] { std::rethrow_exception(error); });
}

/* By a worker. */
void RankRun::give(std::function<void()> function)
{
    tasks_.give([this, function = std::move(function)] { do_now(function); });
}

/* Rank 0 says that all ranks may go on to the next run; those that have need not wait for others. */
void RankRun::handle(Message &&message)
{
    const Head head = head_of(message.bytes);
    if (head.run != run_) {
        if (static_cast<std::int32_t>(head.run - run_) > 0)
            member_.early.push_back(std::move(message));
        return;
    }
    if (message.from == 0)
        heard_ = watch_.now();
    switch (head.tag) {
    case Tag::begin:
        return begin(head, message.bytes);
    case Tag::part:
        wants_ = false;
        parts_.push_back({head.a, {head.b, head.c}});
        return start_next();
    case Tag::verdict:
        return verdict(head.a, head.b != 0);
    case Tag::give_up:
        return give_up(head.a);
    case Tag::mapped:
        return mapped(head, message.bytes);
    case Tag::chunk:
        return add_chunk(message.from, head, message.bytes);
    case Tag::sent:
        sent_++;
        return check_sent();
    case Tag::output:
        pairs_.append(unpack(body_of(message.bytes), work_.program.key_width, work_.program.value_width));
        return;
    case Tag::finish:
        return finish();
    case Tag::stop:
        throw Stopped{text_of(message.bytes)};
    case Tag::beat:
        if (message.from == 0 && !chief_)
            return;
        [[fallthrough]];
    default:
        if (chief_)
            return chief_->handle(message);
    }
}

void RankRun::begin(const Head &head, const Buffer &message)
{
    const std::span<const std::byte> body = body_of(message);
    parameters_.assign(body.begin(), body.end());
    setting_.parameters = parameters_;
    setting_.buckets = static_cast<std::uint32_t>(head.a);
    has_begun_ = true;
    /* If nobody can do without a rank, it is known from the beginning who reduces what. */
    for (unsigned rank = 0; !link_.survives() && rank < link_.ranks(); rank++)
        reducers_.push_back(rank);
    gathers_ = head.c != 0;
    if (gathers_ && !reducers_.empty())
        reducers_ = {0};
    /* It is about to come. */
    wants_ = head.b != 0;
    ask();
}

void RankRun::ask()
{
    if (wants_ || is_mapped_ || !parts_.empty() || (map_ && !map_->is_near_end()))
        return;
    wants_ = true;
    send(0, head(Tag::want));
}

void RankRun::start_next()
{
    if (map_ || parts_.empty())
        return;
    Part part = parts_.front();
    parts_.pop_front();
    if (plan_.probes)
        take_probe(part);
    map_id_ = part.id;
    is_given_up_ = false;
    map_begin_ = watch_.now();
    map_ = std::make_unique<PartitionMap>(
        setting_, part.range, plan_.mappers,
        schedule::SplitOptions{.dynamic = plan_.dynamic, .block_bytes = setting_.grid, .homes = homes_in(part.range)},
        [this] { post([this] { partition_ended(); }); });
    map_->start();
}

void RankRun::partition_ended()
{
    timeline_.add("partitions", 0, "partition " + std::to_string(map_id_), map_begin_, watch_.now(),
                  map_->range().size());
    std::vector<Run> runs = map_->take();
    mapped_seconds_ += watch_.now() - map_begin_;
    count(*map_);
    map_.reset();
    for (std::size_t bucket = 0; bucket < runs.size(); bucket++)
        mapped_.runs[bucket].push_back(std::move(runs[bucket]));
    const std::uint64_t placed = placed_ ? placed_->take_count() : 0;
    mapped_.placed += placed;
    report_.pairs_mapped += placed;
    if (!parts_.empty() && parts_.front().id == map_id_ && !is_given_up_) {
        share_by_rates(plan_, devices_.rates);
    } else if (!is_given_up_) {
        tell_done();
    } else {
        mapped_ = {};
        report_.lost++;
        send(0, head(Tag::returned, map_id_));
    }
    start_next();
    ask();
}

/* Pairs wait here until rank 0 has said whether they count; few of them go there at once. */
void RankRun::tell_done()
{
    Head done = head(Tag::done, map_id_);
    const Buffer few = gathers_ ? take_few(done) : Buffer();
    verdict_waits_[map_id_] = std::exchange(mapped_, {});
    send(0, done, as_text({few.data(), few.size()}));
    if (gathers_ && !chief_)
        tell_report();
}

/* What is one run of one chunk goes as it is; empty: there is more. */
Buffer RankRun::take_few(Head &done)
{
    Buffer packed;
    std::vector<Run *> some;
    std::size_t chunks = 0;
    for (auto &[bucket, runs] : mapped_.runs)
        for (Run &run : runs)
            if (!run.chunks.empty()) {
                chunks += run.chunks.size();
                some.push_back(&run);
            }
    if (chunks > 1 || (chunks == 1 && some.front()->size() > few_pairs))
        return packed;
    done.b = true;
    if (chunks == 1) {
        done.c = some.front()->place;
        pack(some.front()->chunks.front().take(), packed);
    }
    mapped_.runs.clear();
    report_.sent += chief_ ? 0 : packed.size();
    return packed;
}

/* Of a partition, the beginning is done by whoever is idle; what is left of it follows by the rates that this shows. */
void RankRun::take_probe(Part &part)
{
    const std::uint64_t middle = work_.input.source()->border(part.range.begin + probe_bytes(plan_, part.range.size()));
    if (middle <= part.range.begin || middle >= part.range.end)
        return;
    parts_.push_front({part.id, {middle, part.range.end}});
    part.range.end = middle;
}

/* Somebody else was first. */
void RankRun::give_up(std::uint64_t id)
{
    if (map_ && map_id_ == id) {
        is_given_up_ = true;
        map_->stop();
        std::erase_if(parts_, [&](const Part &part) { return part.id == id; });
    } else if (std::erase_if(parts_, [&](const Part &part) { return part.id == id; }) > 0) {
        send(0, head(Tag::returned, id));
        ask();
    }
}

/* Without any, a static split has its shares. */
std::vector<schedule::Home> RankRun::homes_in(const schedule::Range &range) const
{
    if (plan_.is_resident)
        return homes_by_shares(plan_, range,
                               [source = work_.input.source()](std::uint64_t at) { return source->border(at); });
    std::vector<schedule::Home> homes;
    for (const schedule::Home &home : devices_.homes)
        if (plan_.stays && home.range.begin < range.end && range.begin < home.range.end)
            homes.push_back(home);
    return homes;
}

void RankRun::keep_homes()
{
    devices_.homes = std::move(homes_);
    if (chief_)
        devices_.ranks = chief_->homes();
}

void RankRun::count(const PartitionMap &map)
{
    for (std::size_t i = 0; i < report_.devices.size(); i++) {
        report_.devices[i].bytes += map.devices()[i].bytes;
        report_.devices[i].blocks += map.devices()[i].blocks;
        report_.devices[i].busy += map.devices()[i].busy;
    }
    report_.pairs_mapped += map.pairs();
    report_.partitions++;
    for (const schedule::Home &home : map.homes())
        homes_.push_back(home);
    if (!measures_)
        return;
    /* Who had no part is as fast as he was. */
    devices_.rates.resize(report_.devices.size(), 0);
    for (std::size_t i = 0; i < report_.devices.size(); i++)
        if (report_.devices[i].bytes > 0)
            devices_.rates[i] = report_.devices[i].rate();
}

/* For runs to come of such a job; of a kept one, only runs whose input was there. */
void RankRun::learn()
{
    learn_way();
    /* Before its input was where it is to be, rates are the bus's. */
    if (known_.again && !plan_.stays && gpus_have_theirs(devices_))
        devices_.rates = member_.known_rates(work_.program, devices_, true);
    if (!measures_ || (known_.again && !plan_.stays))
        return;
    member_.learn_rates(work_.program, devices_, known_.again, devices_.rates);
    if (known_.again)
        devices_.rates = member_.known_rates(work_.program, devices_, true);
}

void RankRun::learn_way()
{
    std::uint64_t bytes = 0;
    for (const Report::Device &device : report_.devices)
        bytes += device.bytes;
    if (known_.again || plan_.probes || !has_cores_and_gpus(plan_) || !(mapped_seconds_ > 0) || bytes == 0)
        return;
    member_.learn_way(work_, devices_, report_.devices.front().bytes > 0, static_cast<double>(bytes) / mapped_seconds_);
}

/* Rank 0 knows whether somebody else was first. */
void RankRun::verdict(std::uint64_t id, bool counts)
{
    Mapped waiting = std::move(verdict_waits_[id]);
    verdict_waits_.erase(id);
    if (!counts) {
        report_.lost++;
        return;
    }
    report_.results += waiting.placed;
    for (auto &[bucket, runs] : waiting.runs)
        for (Run &run : runs)
            if (!run.chunks.empty())
                outgoing_.push_back({Tag::chunk, bucket, std::move(run)});
}

void RankRun::end_without_first(const std::string &why)
{
    link_.give_up();
    throw Stopped{"job \"" + work_.program.name + "\": rank 0 has failed: " + why};
}

void RankRun::beat()
{
    const double now = watch_.now();
    if (chief_) {
        chief_->has_mapped(map_ ? map_->progress() : 0);
        return chief_->tick();
    }
    for (const unsigned rank : link_.lost())
        if (rank == 0)
            end_without_first("it is gone");
    if (now - heard_ > std::chrono::duration<double>(member_.options().patience).count())
        end_without_first("nothing has been heard of it for " + std::to_string(member_.options().patience.count()) +
                          " ms");
    if (now - beaten_ < beat_seconds)
        return;
    beaten_ = now;
    send(0, head(Tag::beat, map_ ? map_->progress() : 0));
    if (has_begun_)
        ask();
}

} // namespace ptsched::spmd
