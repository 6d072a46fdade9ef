// SPDX-License-Identifier: MIT
#include "samples/pool/gpus2/factors.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace ptsched::gpus2 {

namespace {

std::vector<float> random(std::size_t count, unsigned seed)
{
    std::mt19937 source(seed);
    std::uniform_real_distribution<float> values(-1, 1);
    std::vector<float> made(count);
    std::generate(made.begin(), made.end(), [&] { return values(source); });
    return made;
}

std::vector<double> multiply(const std::vector<float> &matrix, const std::vector<double> &vector)
{
    const std::size_t n = vector.size();
    std::vector<double> product(n);
    for (std::size_t row = 0; row < n; row++)
        for (std::size_t column = 0; column < n; column++)
            product[row] += matrix[row * n + column] * vector[column];
    return product;
}

} // namespace

Factors::OnGpu::OnGpu(device::Device &gpu, std::size_t bytes)
    : queue(gpu.make_queue()), a(device::Allocation::on_device(gpu, bytes)),
      b(device::Allocation::on_device(gpu, bytes)), c(device::Allocation::on_device(gpu, bytes))
{
}

Factors::Factors(std::span<device::Device *const> gpus, unsigned n) : n_(n)
{
    const std::size_t count = std::size_t{n} * n;
    const std::vector<float> a = random(count, 1), b = random(count, 2), vector = random(n, 3);
    vector_.assign(vector.begin(), vector.end());
    product_ = multiply(a, multiply(b, vector_));
    for (device::Device *gpu : gpus) {
        OnGpu &one = gpus_.emplace_back(*gpu, bytes());
        one.queue->upload(one.a.address(), a.data(), bytes());
        one.queue->upload(one.b.address(), b.data(), bytes());
        one.queue->finish();
    }
}

::gpus2::Matrices Factors::on(unsigned place) const
{
    const OnGpu &one = gpus_[place];
    const auto pointer = [](const device::Allocation &memory) {
        return static_cast<float *>(device::host_pointer(memory.address()));
    };
    return {pointer(one.a), pointer(one.b), pointer(one.c), n_, place};
}

void Factors::forget()
{
    const std::vector<float> nothing(std::size_t{n_} * n_, std::numeric_limits<float>::quiet_NaN());
    for (OnGpu &one : gpus_) {
        one.queue->upload(one.c.address(), nothing.data(), bytes());
        one.queue->finish();
    }
}

void Factors::check(std::span<const ::gpus2::Task> tiles, const std::string &by)
{
    const std::size_t in_row = n_ / ::gpus2::tile;
    std::vector<unsigned> places(in_row * in_row, ~0U);
    for (const ::gpus2::Task &task : tiles)
        places[task.row * in_row + task.column] = task.place;
    std::vector<float> product(std::size_t{n_} * n_, std::numeric_limits<float>::quiet_NaN()), found(product.size());
    for (unsigned place = 0; place < gpus_.size(); place++) {
        gpus_[place].queue->download(found.data(), gpus_[place].c.address(), bytes());
        gpus_[place].queue->finish();
        for (std::size_t i = 0; i < found.size(); i++)
            if (places[i / n_ / ::gpus2::tile * in_row + i % n_ / ::gpus2::tile] == place)
                product[i] = found[i];
    }
    /* Rounding adds up like steps in random directions. */
    const double tolerance = 1e-6 * n_ * std::sqrt(n_);
    const std::vector<double> is = multiply(product, vector_);
    for (std::size_t row = 0; row < n_; row++)
        if (!(std::abs(is[row] - product_[row]) <= tolerance))
            throw Error("the product by " + by + " is wrong in row " + std::to_string(row) + ": times a vector, " +
                        std::to_string(is[row]) + " and not " + std::to_string(product_[row]));
}

} // namespace ptsched::gpus2
