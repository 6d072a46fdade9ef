// SPDX-License-Identifier: MIT
/* A rank's run from when its pairs are mapped. */
#include "libptsched/spmd/pairs/wire.hpp"
#include "libptsched/spmd/run/rank_run.hpp"
#include "libptsched/spmd/run/reduce.hpp"

#include <algorithm>

namespace ptsched::spmd {
namespace {

/* Messages that a rank has on their way to others. */
constexpr std::size_t most_unsent = 32 << 20;

} // namespace

unsigned RankRun::owner(std::uint32_t bucket) const
{
    /* Nobody has to reduce them. */
    if (work_.output.value_bytes)
        return 0;
    return reducers_[bucket % reducers_.size()];
}

void RankRun::mapped(const Head &head, const Buffer &message)
{
    const std::span<const std::byte> body = body_of(message);
    std::vector<unsigned> ranks(body.size() / sizeof(unsigned));
    std::memcpy(ranks.data(), body.data(), ranks.size() * sizeof(unsigned));
    are_here_ = head.a != 0;
    senders_ = are_here_ || (gathers_ && !chief_) ? 0 : ranks.size();
    reducers_ = gathers_ ? std::vector<unsigned>{0} : std::move(ranks);
    for (Run &run : chief_ ? chief_->take_few() : std::vector<Run>())
        incoming_[0].push_back(std::move(run));
    is_mapped_ = true;
    report_.map = watch_.now();
    parts_.clear();
    check_sent();
}

/* Sends what there is room for. */
void RankRun::pump()
{
    if (reducers_.empty())
        return;
    while (!outgoing_.empty() && link_.unsent() < most_unsent)
        if (!send_chunk(outgoing_.front()))
            outgoing_.pop_front();
    if (!outgoing_.empty())
        return;
    if (is_mapped_ && !are_here_ && !std::exchange(has_sent_, true)) {
        for (const unsigned rank : reducers_)
            send(rank, head(Tag::sent));
    }
    if (std::exchange(tells_reduced_, false))
        tell_reduced();
}

/* False: there is no more of it. */
bool RankRun::send_chunk(Outgoing &outgoing)
{
    const unsigned to = outgoing.tag == Tag::result ? 0 : owner(outgoing.bucket);
    if (to == link_.rank()) {
        incoming_[outgoing.bucket].push_back(std::move(outgoing.run));
        return false;
    }
    if (outgoing.chunk == outgoing.run.chunks.size())
        return false;
    Buffer packed;
    pack(outgoing.run.chunks[outgoing.chunk++].take(), packed);
    const bool is_last = outgoing.chunk == outgoing.run.chunks.size();
    Head head = this->head(outgoing.tag, outgoing.bucket);
    head.b = outgoing.run.place;
    head.c = is_last;
    send(to, head, as_text({packed.data(), packed.size()}));
    report_.sent += packed.size();
    return !is_last;
}

/* A rank sends its runs one after another. */
void RankRun::add_chunk(unsigned from, const Head &head, const Buffer &message)
{
    Run &run = arriving_[from];
    run.place = head.b;
    run.chunks.emplace_back(spill_, unpack(body_of(message), work_.program.key_width, work_.program.value_width));
    if (head.c == 0)
        return;
    incoming_[static_cast<std::uint32_t>(head.a)].push_back(std::move(run));
    arriving_.erase(from);
}

void RankRun::check_sent()
{
    if (is_mapped_ && sent_ == senders_)
        start_reduce();
}

void RankRun::start_reduce()
{
    report_.shuffle = watch_.now();
    timeline_.add("stages", 0, "map", 0, report_.map, work_.input.bytes());
    timeline_.add("stages", 0, "shuffle", report_.map, report_.shuffle, report_.sent);
    reducing_ = incoming_.size();
    std::uint64_t pairs = 0;
    for (const auto &[bucket, runs] : incoming_)
        for (const Run &run : runs)
            pairs += run.size();
    /* What the program does with all values of a key may take longer. */
    const bool is_short = pairs <= few_pairs && !work_.program.reduce;
    for (auto &[bucket, runs] : incoming_) {
        auto shared = std::make_shared<std::vector<Run>>(std::move(runs));
        const auto work = [this, shared, bucket = bucket] { reduce_bucket(bucket, std::move(*shared)); };
        is_short ? do_now(work) : give(work);
    }
    incoming_.clear();
    if (reducing_ == 0)
        reduced();
}

void RankRun::reduce_bucket(std::uint32_t bucket, std::vector<Run> runs)
{
    const double begin = watch_.now();
    auto run = std::make_shared<Run>(reduce_runs(work_.program, spill_, std::move(runs)));
    timeline_.add("reduce", bucket, "reduce", begin, watch_.now(), run->bytes());
    post([this, bucket, run] { bucket_reduced(bucket, std::move(*run)); });
}

void RankRun::bucket_reduced(std::uint32_t bucket, Run run)
{
    report_.results += run.size();
    results_[bucket] = std::move(run);
    if (--reducing_ == 0)
        reduced();
}

/* All that this rank has to reduce. */
void RankRun::reduced()
{
    report_.reduce = watch_.now();
    timeline_.add("stages", 0, "reduce", report_.shuffle, report_.reduce, 0);
    if (work_.output.where == Output::Where::each) {
        std::vector<Run> runs;
        for (auto &[bucket, run] : results_)
            runs.push_back(std::move(run));
        auto shared = std::make_shared<std::vector<Run>>(std::move(runs));
        give([this, shared] {
            make_output(std::move(*shared));
            post([this] { tell_reduced(); });
        });
        return;
    }
    if (chief_)
        return tell_reduced();
    for (auto &[bucket, run] : results_)
        if (!run.chunks.empty())
            outgoing_.push_back({Tag::result, bucket, std::move(run)});
    results_.clear();
    tells_reduced_ = true;
}

void RankRun::tell_reduced()
{
    /* Who has nothing to reduce has said before what it has done. */
    if (chief_ || !gathers_)
        tell_report();
}

void RankRun::tell_report()
{
    report_.spilled = spill_->written();
    if (chief_)
        return chief_->has_reduced(report_);
    if (gathers_)
        report_.map = report_.shuffle = report_.reduce = watch_.now();
    send(0, head(Tag::reduced), pack_report(report_));
}

std::string RankRun::path() const
{
    if (work_.output.where != Output::Where::each)
        return work_.output.path;
    return work_.output.path + "." + std::to_string(link_.rank()) + "-of-" + std::to_string(link_.ranks());
}

/* To the file, or to the memory that the run returns. */
void RankRun::make_output(std::vector<Run> runs)
{
    const double begin = watch_.now();
    if (placed_) {
        for (Run &run : runs)
            for (Chunk &chunk : run.chunks)
                placed_->store(chunk.take());
    } else if (work_.output.path.empty()) {
        append_all(work_.program, std::move(runs), pairs_);
    } else {
        if (!work_.format)
            throw Error("Job::format has to say how keys and values of these types are written to " + path() +
                        ", since they are neither numbers nor strings");
        file_.emplace(path());
        std::string text;
        for_each_pair(work_.program, std::move(runs), [&](std::string_view key, std::string_view value) {
            text.clear();
            work_.format(key, value, text);
            file_->write(text);
        });
        file_->finish();
    }
    timeline_.add("stages", 0, "output", begin, watch_.now(), file_ ? file_->bytes() : pairs_.bytes());
}

/* On rank 0, when all have reduced: its own results and those that have come. */
void RankRun::make_whole()
{
    std::map<std::uint32_t, Run> come = chief_->take_results();
    if (work_.output.where == Output::Where::each)
        return chief_->finish(nullptr);
    auto runs = std::make_shared<std::vector<Run>>();
    std::uint64_t pairs = 0;
    for (auto *results : {&results_, &come})
        for (auto &[bucket, run] : *results) {
            pairs += run.size();
            runs->push_back(std::move(run));
        }
    const auto work = [this, runs] {
        make_output(std::move(*runs));
        post([this] { chief_->finish(work_.output.where == Output::Where::everywhere ? &pairs_ : nullptr); });
    };
    work_.output.path.empty() && pairs <= few_pairs ? do_now(work) : give(work);
}

void RankRun::finish()
{
    is_finished_ = true;
    if (!file_)
        return;
    try {
        file_->publish();
    } catch (const Error &error) {
        throw Stopped{"job \"" + work_.program.name + "\": " + error.what()};
    }
}

} // namespace ptsched::spmd
