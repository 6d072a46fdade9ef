// SPDX-License-Identifier: MIT
#include "libptsched/spmd/pairs/shared_table.hpp"
#include "libptsched/spmd/run/engine.hpp"
#include "libptsched/spmd/run/workers.hpp"

#include <optional>

namespace ptsched::spmd {
namespace {

/* Of a program that does not combine. */
class Plain final : public Sink {
public:
    explicit Plain(const Program &program) : pairs(program.key_width, program.value_width) {}
    void emit(std::string_view key, std::string_view value) override { pairs.append(key, value); }

    Pairs pairs;
};

/*
 * What a worker maps goes to its own table, which needs no lock: whoever else looks at it does so when it is idle. What
 * others have mapped goes to a table of all: it has been combined before, and would be as much in each worker's own.
 */
class CpuEngine final : public Engine {
public:
    CpuEngine(const Program &program, Workers &workers, std::size_t kept)
        : program_(program), workers_(workers), kept_(kept)
    {
        for (unsigned i = 0; program_.combines() && i < workers_.threads(); i++)
            tables_.emplace_back(program_);
        if (program_.combines())
            shared_.emplace(program_, workers_.threads());
    }
    ~CpuEngine() override
    {
        Lock lock(mutex_);
        while (under_way_ > 0)
            changed_.wait(lock);
    }

    std::string name() const override { return "cpu"; }
    bool is_gpu() const override { return false; }
    unsigned at_once() const override { return workers_.threads(); }
    void start(const Piece &piece, Done done) override
    {
        give(std::move(done), [this, piece](unsigned worker) { return map(piece, worker); });
    }
    unsigned kept() const override
    {
        std::size_t pairs = 0;
        full_.clear();
        for (unsigned i = 0; i < tables(); i++)
            if (const std::size_t some = size(i)) {
                pairs += some;
                full_.push_back(i);
            }
        are_few_ = pairs <= few_pairs;
        return are_few_ ? std::min<unsigned>(static_cast<unsigned>(full_.size()), 1)
                        : static_cast<unsigned>(full_.size());
    }
    void collect(unsigned portion, Done done) override
    {
        if (are_few_)
            return take_few(done);
        give(std::move(done), [this, table = full_.at(portion)](unsigned) { return take(table); });
    }
    Pairs combine(unsigned worker, const PairRange &some) override { return shared_.value().add(some, worker, kept_); }
    void forget_pairs() override
    {
        for (unsigned i = 0; i < tables(); i++)
            take(i);
    }

private:
    /* The workers' own, and then those of all. */
    unsigned tables() const { return static_cast<unsigned>(tables_.size()) + (shared_ ? shared_->tables() : 0); }
    std::size_t size(unsigned table) const
    {
        const auto own = static_cast<unsigned>(tables_.size());
        return table < own ? tables_[table].size() : shared_->size(table - own);
    }
    Pairs take(unsigned table)
    {
        const auto own = static_cast<unsigned>(tables_.size());
        return table < own ? tables_[table].take() : shared_->take(table - own);
    }

    /* Of all tables, by the calling thread. */
    void take_few(const Done &done)
    {
        Pairs pairs(program_.key_width, program_.value_width);
        std::exception_ptr error;
        try {
            Table all(program_);
            for (const unsigned table : full_) {
                const Pairs some = take(table);
                for (std::size_t i = 0; i < some.size(); i++)
                    all.emit(some.keys[i], some.values[i]);
            }
            pairs = all.take();
        } catch (...) {
            error = std::current_exception();
        }
        done(std::move(pairs), std::move(error));
    }

    Pairs map(const Piece &piece, unsigned worker)
    {
        if (!program_.combines()) {
            Plain plain(program_);
            program_.map(piece.block, plain);
            return std::move(plain.pairs);
        }
        Table &table = tables_[worker];
        program_.map(piece.block, table);
        return piece.alone ? table.take() : too_many(table);
    }

    Pairs too_many(Table &table) const
    {
        return table.footprint() > kept_ ? table.take() : Pairs(program_.key_width, program_.value_width);
    }

    template <typename Function> void give(Done done, Function function)
    {
        {
            const Guard guard(mutex_);
            under_way_++;
        }
        workers_.give([this, done = std::move(done), function = std::move(function)](unsigned worker) {
            Pairs pairs(program_.key_width, program_.value_width);
            std::exception_ptr error;
            try {
                pairs = function(worker);
            } catch (...) {
                error = std::current_exception();
            }
            done(std::move(pairs), std::move(error));
            const Guard guard(mutex_);
            under_way_--;
            changed_.notify_all();
        });
    }

    const Program &program_;
    Workers &workers_;
    const std::size_t kept_;
    std::vector<Table> tables_;
    std::optional<SharedTable> shared_;
    mutable std::vector<unsigned> full_; /* that have some, when they were last asked */
    mutable bool are_few_ = false;       /* pairs, then */
    Mutex mutex_;
    std::condition_variable changed_;
    unsigned under_way_ PTSCHED_GUARDED_BY(mutex_) = 0;
};

} // namespace

std::unique_ptr<Engine> make_cpu_engine(const Program &program, Workers &workers, std::size_t kept)
{
    return std::make_unique<CpuEngine>(program, workers, kept);
}

} // namespace ptsched::spmd
