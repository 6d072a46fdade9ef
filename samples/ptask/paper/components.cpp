// SPDX-License-Identifier: MIT
/*
 * Principal components by iteration, each kept orthogonal to those before it (Andrecut's GS-PCA): with three
 * components, 22 tasks for each iteration and 9 others.
 */
#include "samples/ptask/paper/parameters.h"
#include "samples/ptask/paper/programs.hpp"

#include <cmath>

namespace ptsched::paper {

namespace {

constexpr unsigned wanted = 3;
using Vector = std::vector<double>;

/* Three directions that matter, and noise. */
std::vector<float> matrix_of(std::size_t n)
{
    auto values = noise(n * n, 1, -0.1f, 0.1f);
    for (unsigned k = 0; k < wanted; k++) {
        float weight = std::pow(0.5f, static_cast<float>(k));
        auto rows = noise(n, 10 + k), columns = noise(n, 20 + k);
        for (std::size_t i = 0; i < n * n; i++)
            values[i] += weight * rows[i / n] * columns[i % n];
    }
    return values;
}

/* On the host. */
class Reference {
public:
    Reference(const std::vector<float> &matrix, std::size_t n) : n_(n), matrix_(matrix.begin(), matrix.end()) {}

    std::vector<Content> components(unsigned iterations)
    {
        std::vector<Vector> left, right;
        std::vector<Content> results;
        for (unsigned k = 0; k < wanted; k++) {
            Vector t(n_), p;
            double length = 0;
            for (std::size_t i = 0; i < n_; i++)
                t[i] = matrix_[i * n_ + k];
            for (unsigned iteration = 0; iteration < iterations; iteration++) {
                p = product(t, true);
                normalise(p, right);
                t = product(p, false);
                length = normalise(t, left);
            }
            left.push_back(t);
            right.push_back(p);
            for (double &value : t)
                value *= length;
            for (std::size_t i = 0; i < n_ * n_; i++)
                matrix_[i] -= t[i / n_] * p[i % n_];
            results.push_back(content_of(t));
            results.push_back(content_of(p));
        }
        results.push_back(content_of(matrix_));
        return results;
    }

private:
    static Content content_of(const Vector &values) { return paper::content_of({values.begin(), values.end()}); }

    Vector product(const Vector &vector, bool transposed) const
    {
        Vector result(n_);
        for (std::size_t i = 0; i < n_; i++)
            for (std::size_t j = 0; j < n_; j++)
                result[transposed ? j : i] += matrix_[i * n_ + j] * vector[transposed ? i : j];
        return result;
    }

    /* Returns its length. */
    double normalise(Vector &vector, const std::vector<Vector> &others) const
    {
        Vector sum = vector;
        double square = 0;
        for (const Vector &other : others) {
            double dot = 0;
            for (std::size_t i = 0; i < n_; i++)
                dot += vector[i] * other[i];
            for (std::size_t i = 0; i < n_; i++)
                sum[i] -= dot * other[i];
        }
        for (double value : sum)
            square += value * value;
        for (std::size_t i = 0; i < n_; i++)
            vector[i] = sum[i] / std::sqrt(square);
        return std::sqrt(square);
    }

    std::size_t n_;
    Vector matrix_;
};

class Builder {
public:
    Builder(Workload &workload, std::size_t n) : workload_(workload), n_(n), size_{static_cast<unsigned>(n)} {}

    ValueId column(ValueId matrix, unsigned which)
    {
        return workload_.step("column", over(n_), {matrix}, n_, constant_of(Column{size_.n, which}));
    }
    ValueId gemv(ValueId matrix, ValueId vector) { return step("gemv", blocks(n_), {matrix, vector}); }
    ValueId gemv_t(ValueId matrix, ValueId vector) { return step("gemv_t", blocks((n_ + 31) / 32), {matrix, vector}); }
    ValueId multiply(ValueId vector, ValueId by) { return step("multiply", over(n_), {vector, by}); }
    ValueId deflate(ValueId matrix, ValueId column, ValueId row)
    {
        return workload_.step("deflate", over(n_ * n_), {matrix, column, row}, n_ * n_, constant_of(size_));
    }

    /* The vector and its length. */
    std::pair<ValueId, ValueId> normalise(ValueId vector, const std::vector<ValueId> &others)
    {
        if (others.size() == 1)
            vector = step("orthogonal", blocks(1), {vector, others[0]});
        else if (others.size() == 2)
            vector = step("orthogonal2", blocks(1), {vector, others[0], others[1]});
        ValueId length = workload_.step("magnitude", blocks(1), {vector}, 1, constant_of(size_));
        return {step("divide", over(n_), {vector, length}), length};
    }

private:
    ValueId step(const std::string &kernel, const Geometry &geometry, std::vector<ValueId> inputs)
    {
        return workload_.step(kernel, geometry, std::move(inputs), n_, constant_of(size_));
    }

    Workload &workload_;
    std::size_t n_;
    Size size_;
};

} // namespace

Workload components(std::size_t n, unsigned iterations)
{
    Workload workload;
    Builder builder(workload, n);
    const auto values = matrix_of(n);
    ValueId matrix = workload.input(content_of(values));
    std::vector<ValueId> left, right;

    for (unsigned k = 0; k < wanted; k++) {
        ValueId t = builder.column(matrix, k), p = 0, length = 0;
        for (unsigned iteration = 0; iteration < iterations; iteration++) {
            p = builder.normalise(builder.gemv_t(matrix, t), right).first;
            std::tie(t, length) = builder.normalise(builder.gemv(matrix, p), left);
        }
        left.push_back(t);
        right.push_back(p);
        ValueId scaled = builder.multiply(t, length);
        matrix = builder.deflate(matrix, scaled, p);
        workload.results.insert(workload.results.end(), {scaled, p});
    }
    workload.results.push_back(matrix);
    workload.name = "pca-" + std::to_string(iterations) + "/" + std::to_string(n);
    workload.tolerance = 2e-3;
    workload.expected = [=](unsigned) { return Reference(values, n).components(iterations); };
    return workload;
}

} // namespace ptsched::paper
