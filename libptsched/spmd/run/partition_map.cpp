// SPDX-License-Identifier: MIT
#include "libptsched/spmd/run/partition_map.hpp"

#include <algorithm>
#include <utility>

namespace ptsched::spmd {
namespace {

std::vector<schedule::SplitDevice> parts_of(const std::vector<Mapper> &mappers)
{
    std::vector<schedule::SplitDevice> parts;
    for (const Mapper &mapper : mappers)
        parts.push_back(mapper.part);
    return parts;
}

} // namespace

PartitionMap::PartitionMap(const Setting &setting, const schedule::Range &range, std::vector<Mapper> mappers,
                           schedule::SplitOptions options, std::function<void()> ended)
    : setting_(setting), source_(*setting.work.input.source()), range_(range), mappers_(std::move(mappers)),
      starting_(collectors()), ended_(std::move(ended)),
      split_(
          range, parts_of(mappers_),
          [source = setting.work.input.source()](std::uint64_t at) { return source->border(at); }, std::move(options)),
      lanes_(mappers_.size()), runs_(setting.buckets), merged_(setting.buckets)
{
    for (std::size_t i = 0; i < mappers_.size(); i++) {
        reports_.push_back({.name = mappers_[i].engine->name()});
        for (unsigned lane = 0; lane < mappers_[i].engine->at_once(); lane++)
            lanes_[i].free.insert(lane);
    }
}

PartitionMap::~PartitionMap()
{
    Lock lock(mutex_);
    while (!done_)
        changed_.wait(lock);
}

void PartitionMap::start()
{
    for (const Mapper &mapper : mappers_)
        if (setting_.again)
            mapper.engine->expect_input(range_);
    Lock lock(mutex_);
    done_ = false;
    const bool ends = pump(lock);
    lock.unlock();
    if (ends)
        collect();
}

void PartitionMap::stop()
{
    const Guard guard(mutex_);
    stops_ = true;
}

bool PartitionMap::is_near_end() const
{
    const Guard guard(mutex_);
    return split_.waiting_bytes() == 0;
}

std::uint64_t PartitionMap::progress() const
{
    const Guard guard(mutex_);
    std::uint64_t sum = 0;
    for (const Report::Device &device : reports_)
        sum += device.bytes;
    return sum;
}

std::vector<schedule::Home> PartitionMap::homes() const
{
    const Guard guard(mutex_);
    std::vector<schedule::Home> homes = split_.homes(), merged;
    std::sort(homes.begin(), homes.end(), [](const auto &a, const auto &b) { return a.range.begin < b.range.begin; });
    for (const schedule::Home &home : homes) {
        schedule::Home *const last = merged.empty() ? nullptr : &merged.back();
        if (last && last->who == home.who && last->range.end == home.range.begin && !source_.is_made() &&
            mappers_[home.who].engine->has_input({last->range.begin, home.range.end}))
            last->range.end = home.range.end;
        else
            merged.push_back(home);
    }
    return merged;
}

std::vector<Run> PartitionMap::take()
{
    const Guard guard(mutex_);
    if (error_)
        std::rethrow_exception(error_);
    return std::move(merged_);
}

void PartitionMap::keep_error(std::exception_ptr &&error)
{
    if (!error_)
        error_ = std::move(error);
}

/*
 * Whoever comes while somebody is here leaves it to him, since an engine may be done before start() returns. It is
 * called under the lock under which a piece has ended, after which all may be over. True: nothing more is mapped.
 */
bool PartitionMap::pump(Lock &lock)
{
    if (std::exchange(pumps_, true)) {
        again_ = true;
        return false;
    }
    do {
        again_ = false;
        /* GPUs first: theirs takes longer to begin. */
        for (unsigned device = static_cast<unsigned>(mappers_.size()); device-- > 0;) {
            while (const std::optional<Given> given = next(device)) {
                const Unlocked unlocked(lock, mutex_);
                give(*given);
            }
        }
    } while (again_);
    pumps_ = false;
    unsigned under_way = helpers_;
    for (const Lane &lane : lanes_)
        under_way += lane.under_way;
    return under_way == 0 && std::exchange(maps_, false);
}

std::optional<PartitionMap::Given> PartitionMap::next(unsigned device)
{
    Lane &lane = lanes_[device];
    if (error_ || stops_ || lane.free.empty())
        return std::nullopt;
    if (lane.cells.empty()) {
        std::optional<schedule::Block> block;
        std::exception_ptr error;
        try {
            block = split_.next(device, setting_.watch.now());
            if (block)
                add_cells(lane, *block);
        } catch (...) {
            error = std::current_exception();
        }
        if (error)
            keep_error(std::move(error));
        if (!block || error_)
            return std::nullopt;
    }
    const double now = setting_.watch.now();
    Given given{device, *lane.free.begin(), lane.block, lane.cells.front(), now, false};
    lane.free.erase(lane.free.begin());
    lane.cells.pop_front();
    given.last = lane.cells.empty() && !split_.has_more_for(device);
    if (lane.under_way++ == 0)
        lane.busy_since = now;
    return given;
}

/* An ordered job's pairs are combined in cells of the grid, whoever gets how many of them at once. */
void PartitionMap::add_cells(Lane &lane, const schedule::Block &block)
{
    lane.block = block.id;
    for (std::uint64_t at = block.range.begin; at < block.range.end;) {
        std::uint64_t end = block.range.end;
        if (setting_.grid > 0)
            end = std::min(end, source_.border((at / setting_.grid + 1) * setting_.grid));
        lane.cells.push_back({at, end});
        at = end;
    }
    cells_left_[block.id] = static_cast<unsigned>(lane.cells.size());
}

/* Input that has to be made is made by workers, all at once. */
void PartitionMap::give(const Given &given)
{
    if (!source_.is_made())
        return fetch_and_start(given);
    adds_helpers(1);
    setting_.workers.give([this, given](unsigned) {
        fetch_and_start(given);
        helper_ended(nullptr);
    });
}

/* Who are here until they have ended, as a piece is. False: there are as many as are at work at once. */
bool PartitionMap::adds_helpers(std::size_t count)
{
    const Guard guard(mutex_);
    const bool is_enough = helpers_ >= setting_.workers.threads();
    helpers_ += static_cast<unsigned>(count);
    return !is_enough;
}

void PartitionMap::helper_ended(std::exception_ptr error)
{
    Lock lock(mutex_);
    if (error)
        keep_error(std::move(error));
    helpers_--;
    const bool ends = pump(lock);
    lock.unlock();
    if (ends)
        collect();
}

void PartitionMap::fetch_and_start(const Given &given)
{
    std::exception_ptr wrong;
    try {
        const detail::Fetched fetched = source_.fetch(given.range);
        Piece piece;
        piece.alone = setting_.work.ordered;
        piece.again = setting_.again;
        piece.last = given.last;
        piece.placed = setting_.placed;
        piece.block.data = fetched.data;
        piece.block.bytes = given.range.size();
        piece.block.offset = given.range.begin;
        piece.block.parameters = setting_.parameters;
        if (const std::size_t bytes = source_.record_bytes()) {
            piece.block.first = given.range.begin / bytes;
            piece.block.records = given.range.size() / bytes;
        }
        const Guard guard(starting_[given.device]);
        mappers_[given.device].engine->start(
            piece, [this, given, keeper = fetched.keeper](Pairs &&pairs, std::exception_ptr error) {
                mapped(given, keeper, std::move(pairs), std::move(error));
            });
    } catch (...) {
        wrong = std::current_exception();
    }
    if (wrong)
        end_piece(given, std::move(wrong));
}

/* A GPU's thread has better things to do than to sort many. */
bool PartitionMap::is_worth_a_worker(const Engine &engine, const Pairs &pairs)
{
    return engine.is_gpu() && pairs.size() > few_pairs;
}

/* The mappers, and who combines if that is none of them. */
Engine &PartitionMap::collector(unsigned number) const
{
    return number < mappers_.size() ? *mappers_[number].engine : *setting_.combiner;
}

unsigned PartitionMap::collectors() const
{
    return static_cast<unsigned>(mappers_.size()) + (setting_.combiner ? 1 : 0);
}

void PartitionMap::mapped(const Given &given, const std::shared_ptr<const void> &keeper, Pairs &&pairs,
                          std::exception_ptr error)
{
    static_cast<void>(keeper);
    if (error || pairs.empty())
        return end_piece(given, std::move(error));
    if (is_worth_a_worker(*mappers_[given.device].engine, pairs))
        return settle_by_workers(given, std::move(pairs));
    try {
        settle(std::move(pairs), given.range.begin);
    } catch (...) {
        error = std::current_exception();
    }
    end_piece(given, std::move(error));
}

/*
 * What is combined, by several of them. The next piece need not wait for this one's pairs, unless workers have more of
 * them than they can sort.
 */
void PartitionMap::settle_by_workers(const Given &given, Pairs &&pairs)
{
    constexpr std::size_t worth_a_worker = 2 * few_pairs;
    struct Shared {
        Shared(Pairs &&of, std::size_t parts) : pairs(std::move(of)), left(parts) {}
        Pairs pairs;
        std::atomic<std::size_t> left;
    };
    const std::size_t parts = setting_.combines_early() ? std::clamp<std::size_t>(pairs.size() / worth_a_worker, 1,
                                                                                  setting_.workers.threads())
                                                        : 1;
    const auto shared = std::make_shared<Shared>(std::move(pairs), parts);
    const bool goes_on = adds_helpers(parts);
    for (std::size_t i = 0; i < parts; i++)
        setting_.workers.give([this, given, goes_on, shared, i, parts](unsigned worker) {
            std::exception_ptr wrong;
            try {
                const std::size_t all = shared->pairs.size(), first = i * all / parts;
                if (setting_.combines_early())
                    combine(worker, {shared->pairs, first, (i + 1) * all / parts - first}, given.range.begin);
                else
                    settle(std::move(shared->pairs), given.range.begin);
            } catch (...) {
                wrong = std::current_exception();
            }
            if (shared->left.fetch_sub(1) == 1 && !goes_on)
                end_piece(given, nullptr);
            helper_ended(std::move(wrong));
        });
    if (goes_on)
        end_piece(given, nullptr);
}

/* Many keys may be the same as in other pieces. */
void PartitionMap::combine(unsigned worker, const PairRange &some, std::uint64_t place)
{
    Engine &combiner = setting_.combiner ? *setting_.combiner : *mappers_.front().engine;
    Pairs much = combiner.combine(worker, some);
    if (!much.empty())
        settle(std::move(much), place);
}

void PartitionMap::settle(Pairs &&pairs, std::uint64_t place)
{
    if (setting_.placed)
        return setting_.placed->store(pairs);
    const std::size_t count = pairs.size();
    std::vector<Run> made = make_runs(setting_.program(), setting_.spill, std::move(pairs), place, setting_.buckets);
    const Guard guard(mutex_);
    for (std::uint32_t i = 0; i < made.size(); i++)
        if (!made[i].chunks.empty())
            runs_[i].push_back(std::move(made[i]));
    pairs_ += count;
}

void PartitionMap::end_piece(const Given &given, std::exception_ptr error)
{
    const double now = setting_.watch.now();
    setting_.timeline.add(mappers_[given.device].engine->name(), given.lane, "map", given.begin, now,
                          given.range.size());
    Lock lock(mutex_);
    Lane &lane = lanes_[given.device];
    Report::Device &report = reports_[given.device];
    lane.free.insert(given.lane);
    if (--lane.under_way == 0)
        report.busy += now - lane.busy_since;
    if (error) {
        keep_error(std::move(error));
    } else {
        report.bytes += given.range.size();
        report.blocks++;
        if (--cells_left_[given.block] == 0) {
            cells_left_.erase(given.block);
            split_.done(given.block, now);
        }
    }
    const bool ends = pump(lock);
    lock.unlock();
    if (ends)
        collect();
}

/* Nothing is mapped any more. What engines have kept back comes, by several threads. */
void PartitionMap::collect()
{
    std::vector<std::pair<unsigned, unsigned>> portions;
    bool wanted;
    {
        const Guard guard(mutex_);
        wanted = !error_ && !stops_;
        for (unsigned number = 0; number < collectors(); number++)
            for (unsigned i = 0; wanted && i < collector(number).kept(); i++)
                portions.emplace_back(number, i);
        parts_ = static_cast<unsigned>(portions.size()) + 1;
    }
    for (unsigned i = 0; i < collectors() && !wanted; i++)
        collector(i).forget_pairs();
    for (const auto &[number, portion] : portions) {
        const Guard guard(starting_[number]);
        Engine &engine = collector(number);
        engine.collect(portion, [this, &engine](Pairs &&pairs, std::exception_ptr error) {
            if (!is_worth_a_worker(engine, pairs))
                return collected(std::move(pairs), std::move(error));
            setting_.workers.give([this, all = std::make_shared<Pairs>(std::move(pairs)), error = std::move(error)](
                                      unsigned) mutable { collected(std::move(*all), std::move(error)); });
        });
    }
    part_ended(nullptr);
}

void PartitionMap::collected(Pairs &&pairs, std::exception_ptr error)
{
    try {
        if (!error && !pairs.empty())
            settle(std::move(pairs), range_.begin);
    } catch (...) {
        error = std::current_exception();
    }
    part_ended(std::move(error));
}

void PartitionMap::part_ended(std::exception_ptr error)
{
    {
        const Guard guard(mutex_);
        if (error)
            keep_error(std::move(error));
        if (--parts_ > 0)
            return;
    }
    merge();
}

/* The last of the buckets is the end of this. */
void PartitionMap::merge()
{
    bool are_few;
    const std::uint32_t buckets = setting_.buckets;
    {
        const Guard guard(mutex_);
        parts_ = error_ || stops_ ? 0 : buckets;
        are_few = pairs_ <= few_pairs;
        if (parts_ > 0 && !are_few) {
            for (std::uint32_t i = 0; i < buckets; i++)
                setting_.workers.give([this, i](unsigned) { merge_bucket(i); });
            return;
        }
        if (parts_ == 0) {
            runs_.clear();
            are_few = false;
        }
    }
    if (!are_few)
        return end();
    for (std::uint32_t i = 0; i < buckets; i++)
        merge_bucket(i);
}

void PartitionMap::merge_bucket(std::uint32_t bucket)
{
    std::exception_ptr error;
    Run merged;
    try {
        std::vector<Run> runs;
        {
            const Guard guard(mutex_);
            runs = std::move(runs_[bucket]);
        }
        if (!runs.empty())
            merged = merge_runs(setting_.program(), setting_.spill, std::move(runs), setting_.combines_early());
        merged.place = range_.begin;
    } catch (...) {
        error = std::current_exception();
    }
    {
        const Guard guard(mutex_);
        merged_[bucket] = std::move(merged);
        if (error)
            keep_error(std::move(error));
        if (--parts_ > 0)
            return;
    }
    end();
}

/* It may go as soon as the lock is free: whoever is to take its result has been told before. */
void PartitionMap::end()
{
    ended_();
    const Guard guard(mutex_);
    done_ = true;
    changed_.notify_all();
}

} // namespace ptsched::spmd
