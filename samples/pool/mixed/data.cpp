// SPDX-License-Identifier: MIT
#include "samples/pool/mixed/data.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <string>

namespace ptsched::mixed {

namespace {

constexpr unsigned fewest_in_row = 4, most_in_row = 512, near = 4096;
constexpr double rate = 0.02, least_volatility = 0.1, most_volatility = 0.5;

double normal(double d)
{
    return 0.5 * std::erfc(-d / std::sqrt(2.0));
}

/* On average over the volatilities. */
double call_of(double value, double strike, double years, unsigned volatilities)
{
    double sum = 0;
    for (unsigned j = 0; j < volatilities; j++) {
        const double volatility = least_volatility + (most_volatility - least_volatility) * j / volatilities;
        const double deviation = volatility * std::sqrt(years);
        const double d1 = (std::log(value / strike) + (rate + volatility * volatility / 2) * years) / deviation;
        sum += value * normal(d1) - strike * std::exp(-rate * years) * normal(d1 - deviation);
    }
    return sum / volatilities;
}

[[noreturn]] void fail(const std::string &what, unsigned i, double found, double right, const char *by)
{
    throw device::Error("mixed: " + what + " " + std::to_string(i) + " by " + by + " is " + std::to_string(found) +
                        "; it should be " + std::to_string(right));
}

std::vector<float> draw(std::mt19937 &random, std::size_t count, float least, float most)
{
    std::uniform_real_distribution<float> between(least, most);
    std::vector<float> values(count);
    for (float &value : values)
        value = between(random);
    return values;
}

} // namespace

Data::Data(device::Device &gpu, unsigned rows, unsigned options, unsigned volatilities) : gpu_(gpu)
{
    std::mt19937 random(1);
    begins_.reserve(rows + 1);
    begins_.push_back(0);
    for (unsigned row = 0; row < rows; row++) {
        unsigned count = fewest_in_row;
        for (unsigned bits = static_cast<unsigned>(random()); count < most_in_row && bits & 1; bits >>= 1)
            count *= 2;
        begins_.push_back(begins_.back() + count);
        for (unsigned i = 0; i < count; i++) {
            const unsigned draws = static_cast<unsigned>(random());
            columns_.push_back((i % 2 ? draws : row + draws % near) % rows);
        }
    }
    values_ = draw(random, columns_.size(), -1, 1);
    x_ = draw(random, rows, -1, 1);
    prices_ = draw(random, options, 5, 30);
    strikes_ = draw(random, options, 1, 100);
    years_ = draw(random, options, 0.25, 10);
    problem_.matrix = {send(begins_), send(columns_), send(values_), send(x_), results(rows), rows, begins_.back()};
    problem_.options = {send(prices_),    send(strikes_), send(years_), results(options),
                        results(options), options,        volatilities};
    copy_ = device::Allocation::on_device(gpu, sizeof(Problem));
    use_options(options);
}

template <typename T> T *Data::send(const std::vector<T> &values)
{
    const std::size_t bytes = values.size() * sizeof(T);
    memory_.push_back(device::Allocation::on_device(gpu_, bytes));
    const auto queue = gpu_.make_queue();
    queue->upload(memory_.back().address(), values.data(), bytes);
    queue->finish();
    return static_cast<T *>(device::host_pointer(memory_.back().address()));
}

float *Data::results(std::size_t count)
{
    return send(std::vector<float>(count, NAN));
}

std::vector<float> Data::fetch(const float *from, std::size_t count) const
{
    std::vector<float> values(count);
    const auto queue = gpu_.make_queue();
    queue->download(values.data(), reinterpret_cast<device::Address>(from), count * sizeof(float));
    queue->finish();
    return values;
}

void Data::use_options(unsigned count)
{
    problem_.options.count = std::clamp(count, 1u, most_options());
    const auto queue = gpu_.make_queue();
    queue->upload(copy_.address(), &problem_, sizeof(problem_));
    queue->finish();
}

unsigned Data::row_at(double share) const
{
    const auto entry = static_cast<unsigned>(share * problem_.matrix.entries);
    if (entry >= problem_.matrix.entries)
        return problem_.matrix.rows;
    return static_cast<unsigned>(std::lower_bound(begins_.begin(), begins_.end(), entry) - begins_.begin());
}

void Data::clear_results()
{
    const std::vector<float> nothing(std::max<std::size_t>(x_.size(), prices_.size()), NAN);
    const auto queue = gpu_.make_queue();
    const auto clear = [&](float *results, std::size_t count) {
        queue->upload(reinterpret_cast<device::Address>(results), nothing.data(), count * sizeof(float));
    };
    clear(problem_.matrix.y, x_.size());
    clear(problem_.options.calls, prices_.size());
    clear(problem_.options.puts, prices_.size());
    queue->finish();
}

void Data::check(unsigned step, const char *by) const
{
    const unsigned count = problem_.options.count;
    check_rows(fetch(problem_.matrix.y, x_.size()), step, by);
    check_options(fetch(problem_.options.calls, count), fetch(problem_.options.puts, count), step, by);
}

void Data::check_rows(const std::vector<float> &y, unsigned step, const char *by) const
{
    for (unsigned row = 0; row < y.size(); row += step) {
        double sum = 0, size = 0;
        for (unsigned i = begins_[row]; i < begins_[row + 1]; i++) {
            const double product = static_cast<double>(values_[i]) * x_[columns_[i]];
            sum += product;
            size += std::abs(product);
        }
        if (!(std::abs(y[row] - sum) <= 1e-5 * size))
            fail("row", row, y[row], sum, by);
    }
}

void Data::check_options(const std::vector<float> &calls, const std::vector<float> &puts, unsigned step,
                         const char *by) const
{
    for (unsigned i = 0; i < calls.size(); i += step) {
        const double call = call_of(prices_[i], strikes_[i], years_[i], problem_.options.volatilities);
        const double put = call + strikes_[i] * std::exp(-rate * years_[i]) - prices_[i];
        if (!(std::abs(calls[i] - call) <= 1e-3))
            fail("the call of option", i, calls[i], call, by);
        if (!(std::abs(puts[i] - put) <= 1e-3))
            fail("the put of option", i, puts[i], put, by);
    }
}

} // namespace ptsched::mixed
