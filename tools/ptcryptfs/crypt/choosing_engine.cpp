// SPDX-License-Identifier: MIT
#include "tools/ptcryptfs/crypt/engine.hpp"

#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <sys/syslog.h>

namespace ptcryptfs {

namespace {

/* Sizes that differ by less than a factor of two are alike: up to 2^20 sectors. */
constexpr unsigned sizes = 21;
/* One of so many requests is given to who was slower, which may have changed. */
constexpr unsigned retry_every = 64;
/* A request's weight in the average that follows. */
constexpr double weight = 0.25;

class ChoosingEngine final : public Engine {
public:
    ChoosingEngine(std::unique_ptr<Engine> one, std::unique_ptr<Engine> other)
        : engines_{std::move(one), std::move(other)}
    {
    }
    std::string name() const override { return engines_[0]->name() + " or " + engines_[1]->name(); }
    /* What one needs, the other one can use. */
    Buffer buffer(std::size_t bytes) override { return engines_[has_failed_ ? 0 : 1]->buffer(bytes); }
    void encrypt(const Secret &key, std::uint64_t first, ConstBytes from, Bytes to) override
    {
        run(0, to, [&](Engine &engine) { engine.encrypt(key, first, from, to); });
    }
    void decrypt(const Secret &key, std::uint64_t first, Bytes sectors) override
    {
        run(1, sectors, [&](Engine &engine) { engine.decrypt(key, first, sectors); });
    }

private:
    /* Nanoseconds that requests of that size have taken with each; zero: none yet. */
    struct Costs {
        std::array<std::atomic<double>, 2> of = {0.0, 0.0};
        std::atomic<unsigned> requests = 0;
    };

    template <typename Run> void run(unsigned direction, Bytes sectors, const Run &run)
    {
        const auto size = std::min<unsigned>(std::bit_width(sectors.size() / sector_bytes), sizes - 1);
        Costs &costs = costs_[direction][size];
        const unsigned which = choose(costs);
        const auto begin = std::chrono::steady_clock::now();
        try {
            run(*engines_[which]);
        } catch (const NotDone &error) {
            if (!has_failed_.exchange(true))
                syslog(LOG_ERR, "%s is used no more: %s", engines_[1]->name().c_str(), error.what());
            run(*engines_[0]);
            return;
        }
        const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
        const double before = costs.of[which];
        costs.of[which] = before > 0 ? before + weight * (took.count() - before) : took.count();
    }

    unsigned choose(Costs &costs)
    {
        if (has_failed_)
            return 0;
        const double one = costs.of[0], other = costs.of[1];
        const unsigned best = other > 0 && (one <= 0 || one <= other) ? 0 : 1;
        return costs.requests.fetch_add(1, std::memory_order_relaxed) % retry_every == 0 ? 1 - best : best;
    }

    const std::array<std::unique_ptr<Engine>, 2> engines_;
    std::array<std::array<Costs, sizes>, 2> costs_;
    std::atomic<bool> has_failed_{false};
};

} // namespace

std::unique_ptr<Engine> make_choosing_engine(std::unique_ptr<Engine> one, std::unique_ptr<Engine> other)
{
    return std::make_unique<ChoosingEngine>(std::move(one), std::move(other));
}

} // namespace ptcryptfs
