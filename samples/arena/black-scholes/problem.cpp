// SPDX-License-Identifier: MIT
#include "samples/arena/black-scholes/problem.hpp"

#include <numeric>

namespace ptsched::black_scholes {

namespace {

constexpr std::size_t most_on_host = std::size_t{1} << 16; /* options */

double cumulative(double x)
{
    return 0.5 * std::erfc(-x / std::sqrt(2.0));
}

} // namespace

Book::Book(std::pmr::memory_resource &market_memory, std::pmr::memory_resource &memory,
           std::pmr::memory_resource &results, Shape shape)
    : market(samples::array_of<Market>(market_memory, 1).data()),
      strike(samples::array_of<float>(memory, shape.options)), years(samples::array_of<float>(memory, shape.options)),
      underlying(samples::array_of<unsigned short>(memory, shape.options)),
      call(samples::array_of<float>(results, shape.options)), put(samples::array_of<float>(results, shape.options))
{
}

std::size_t Book::bytes(Shape shape)
{
    constexpr std::size_t pages = 8 * 4096; /* between arrays */
    return sizeof(Market) + std::size_t{shape.options} * (4 * sizeof(float) + sizeof(unsigned short)) + pages;
}

Problem::Problem(Shape of) : shape(of), strike_(of.options), years_(of.options), underlying_(of.options)
{
    samples::fill_at_random(strike_, 1);
    samples::fill_at_random(years_, 2);
    for (unsigned i = 0; i < of.options; i++) {
        strike_[i] = 100 + 50 * strike_[i];
        years_[i] = 2.5F + 2 * years_[i];
        underlying_[i] = static_cast<unsigned short>((i * 2654435761U >> 8) % underlyings);
    }
    market_.rate = 0.03F;
    for (unsigned i = 0; i < underlyings; i++) {
        market_.price[i] = 80 + 40 * static_cast<float>(i) / underlyings;
        market_.volatility[i] = 0.1F + 0.4F * static_cast<float>(i * 7 % underlyings) / underlyings;
    }
    if (of.options <= most_on_host)
        compute();
}

void Problem::restore(const Book &book) const
{
    samples::copy_all(strike_, book.strike.data());
    samples::copy_all(years_, book.years.data());
    samples::copy_all(underlying_, book.underlying.data());
    *book.market = market_;
    std::ranges::fill(book.call, 0.0F);
    std::ranges::fill(book.put, 0.0F);
}

double Problem::value_of(const Book &book) const
{
    std::vector<double> parts(shape.options / samples::part_elements + 1);
    samples::in_parts(shape.options, samples::part_elements, [&](std::size_t first, std::size_t count) {
        double sum = 0;
        for (std::size_t i = first; i < first + count; i++)
            sum += static_cast<double>(book.call[i]) + static_cast<double>(book.put[i]);
        parts[first / samples::part_elements] = sum;
    });
    return std::accumulate(parts.begin(), parts.end(), 0.0) / shape.options;
}

/* The more they are worth, the less others buy. */
void Problem::move(Market &market, unsigned day, double value) const
{
    const auto impact = static_cast<float>(-1e-4 * value);
    market.rate += 0.0005F * (day % 3 ? 1.0F : -2.0F);
    for (unsigned i = 0; i < underlyings; i++) {
        const float step = 0.02F * (static_cast<float>((i * 31 + day * 17) % 64) / 32 - 1);
        market.price[i] *= 1 + step + impact;
        market.volatility[i] *= 1 + 0.5F * step;
    }
}

/* By the host, in doubles. */
void Problem::compute()
{
    Market market = market_;
    std::vector<float> call(shape.options), put(shape.options);
    std::vector<double> values;
    for (unsigned day = 0; day < shape.days; day++) {
        if (day)
            move(market, day, values.back());
        double sum = 0;
        for (unsigned i = 0; i < shape.options; i++) {
            const double now = market.price[underlying_[i]], strike = strike_[i], years = years_[i];
            const double rate = market.rate, spread = market.volatility[underlying_[i]] * std::sqrt(years);
            const double d1 = (std::log(now / strike) + rate * years) / spread + 0.5 * spread, d2 = d1 - spread;
            const double discounted = strike * std::exp(-rate * years);
            call[i] = static_cast<float>(now * cumulative(d1) - discounted * cumulative(d2));
            put[i] = static_cast<float>(discounted * cumulative(-d2) - now * cumulative(-d1));
            sum += static_cast<double>(call[i]) + static_cast<double>(put[i]);
        }
        values.push_back(sum / shape.options);
    }
    call_.set(std::move(call));
    put_.set(std::move(put));
    values_.set(std::move(values));
}

void Problem::check(const Book &book, const std::vector<double> &values)
{
    call_.check(book.call, "what calls are worth");
    put_.check(book.put, "what puts are worth");
    values_.check(values, "what all is worth each day");
}

/*
 * An option has 5 numbers of its own and 2 of its underlying, and 2 results, which the host reads; the market is read
 * and written. Threads keep the rest in registers.
 */
samples::Accesses Problem::accesses() const
{
    return {shape.days * (shape.options * 11.0 + underlyings * 4.0), 0};
}

void Pricing::run()
{
    values_.clear();
    begin();
    for (unsigned day = 0; day < problem.shape.days; day++) {
        if (day)
            problem.move(*book().market, day, values_.back());
        end(samples::Part::host);
        price();
        values_.push_back(problem.value_of(book()));
    }
    end(samples::Part::host);
}

void Pricing::launch(const OnGpu &at, std::size_t first, std::size_t count) const
{
    const unsigned blocks = static_cast<unsigned>((count + threads - 1) / threads);
    samples::driver::launch(price_, gpu.stream, {blocks}, {threads}, static_cast<const Market *>(at.market),
                            static_cast<const float *>(at.strike) + first, static_cast<const float *>(at.years) + first,
                            static_cast<const unsigned short *>(at.underlying) + first, at.call + first, at.put + first,
                            static_cast<unsigned>(count));
}

} // namespace ptsched::black_scholes
