// SPDX-License-Identifier: MIT
/* Trees, rectangles and chains of operations on matrices. */
#include "samples/ptask/paper/parameters.h"
#include "samples/ptask/paper/programs.hpp"

#include <cmath>

namespace ptsched::paper {

namespace {

using Matrix = std::vector<float>;

/* The operations on the host, and in a workload. */
class Operation {
public:
    Operation(Matrices kind, std::size_t n) : kind_(kind), n_(n) {}

    bool unary() const { return kind_ == Matrices::copy; }
    std::string name() const { return name_of(kind_); }

    /* Of a size that products of many keep theirs. */
    Matrix input(unsigned seed) const
    {
        float most = kind_ == Matrices::multiply ? std::sqrt(3.0f / static_cast<float>(n_)) : 1.0f;
        return noise(n_ * n_, seed, -most, most);
    }

    ValueId add_to(Workload &workload, std::vector<ValueId> inputs) const
    {
        auto n = static_cast<unsigned>(n_);
        if (kind_ == Matrices::multiply)
            return workload.step("gemm", over_plane(n_, n_, PAPER_TILE), std::move(inputs), n_ * n_,
                                 constant_of(Size{n}));
        return workload.step(name(), over(n_ * n_), std::move(inputs), n_ * n_, constant_of(Size{n * n}));
    }

    Matrix apply(const Matrix &a, const Matrix &b) const
    {
        Matrix c(n_ * n_);
        if (kind_ == Matrices::add) {
            for (std::size_t i = 0; i < c.size(); i++)
                c[i] = a[i] + b[i];
            return c;
        }
        for (std::size_t i = 0; i < n_; i++)
            for (std::size_t k = 0; k < n_; k++) {
                const float factor = a[i * n_ + k], *from = &b[k * n_];
                for (std::size_t j = 0; j < n_; j++)
                    c[i * n_ + j] += factor * from[j];
            }
        return c;
    }

private:
    Matrices kind_;
    std::size_t n_;
};

constexpr double rounding = 1e-4;

std::string size_of(std::size_t n)
{
    return "/" + std::to_string(n);
}

/* One datum goes to all leaves. */
Workload copies(unsigned depth, std::size_t n)
{
    Operation operation(Matrices::copy, n);
    Workload workload;
    Content content = content_of(operation.input(1));
    std::vector<ValueId> level{operation.add_to(workload, {workload.input(content)})};

    for (unsigned row = 1; row < depth; row++) {
        std::vector<ValueId> next;
        for (ValueId value : level)
            for (int child = 0; child < 2; child++)
                next.push_back(operation.add_to(workload, {value}));
        level = std::move(next);
    }
    workload.results = level;
    workload.expected = [content, count = level.size()](unsigned) { return std::vector<Content>(count, content); };
    return workload;
}

} // namespace

std::string name_of(Matrices kind)
{
    return kind == Matrices::multiply ? "gemm" : kind == Matrices::add ? "madd" : "mcopy";
}

Workload tree(Matrices kind, unsigned depth, std::size_t n)
{
    Operation operation(kind, n);
    std::string name =
        operation.name() + "-tree" + std::to_string(depth) + "x" + std::to_string(1u << (depth - 1)) + size_of(n);
    if (operation.unary()) {
        Workload workload = copies(depth, n);
        workload.name = name;
        return workload;
    }
    Workload workload;
    std::vector<ValueId> level;
    std::vector<Matrix> leaves;
    for (unsigned i = 0; i < 1u << depth; i++) {
        leaves.push_back(operation.input(i));
        level.push_back(workload.input(content_of(leaves.back())));
    }
    while (level.size() > 1) {
        std::vector<ValueId> next;
        for (std::size_t i = 0; i < level.size(); i += 2)
            next.push_back(operation.add_to(workload, {level[i], level[i + 1]}));
        level = std::move(next);
    }
    workload.name = name;
    workload.results = level;
    workload.tolerance = rounding;
    workload.expected = [operation, leaves](unsigned) {
        std::vector<Matrix> level = leaves;
        while (level.size() > 1) {
            std::vector<Matrix> next;
            for (std::size_t i = 0; i < level.size(); i += 2)
                next.push_back(operation.apply(level[i], level[i + 1]));
            level = std::move(next);
        }
        return std::vector<Content>{content_of(level[0])};
    };
    return workload;
}

Workload rectangle(Matrices kind, unsigned rows, unsigned columns, std::size_t n)
{
    Operation operation(kind, n);
    Workload workload;
    std::vector<std::vector<Matrix>> inputs(columns);
    std::vector<ValueId> bottom;

    /* Row by row, as a program would that wants to keep all columns busy. */
    for (unsigned column = 0; column < columns; column++) {
        inputs[column].push_back(operation.input(column));
        bottom.push_back(workload.input(content_of(inputs[column].back())));
    }
    for (unsigned row = 0; row < rows; row++)
        for (unsigned column = 0; column < columns; column++) {
            std::vector<ValueId> from{bottom[column]};
            if (!operation.unary()) {
                inputs[column].push_back(operation.input(columns * (row + 1) + column));
                from.push_back(workload.input(content_of(inputs[column].back())));
            }
            bottom[column] = operation.add_to(workload, std::move(from));
        }
    workload.name = operation.name() + "-rect" + std::to_string(rows) + "x" + std::to_string(columns) + size_of(n);
    workload.results = bottom;
    workload.tolerance = operation.unary() ? 0 : rounding;
    workload.expected = [operation, inputs](unsigned) {
        std::vector<Content> results;
        for (const auto &column : inputs) {
            Matrix product = column[0];
            for (std::size_t i = 1; i < column.size(); i++)
                product = operation.apply(product, column[i]);
            results.push_back(content_of(product));
        }
        return results;
    };
    return workload;
}

Workload chain(std::size_t n, bool resident)
{
    Workload workload = rectangle(Matrices::multiply, 2, 1, n);
    workload.name = "chain" + std::to_string(n) + (resident ? "/nocopy" : "/copies");
    workload.inputs_stay = workload.results_stay = resident;
    return workload;
}

Workload empty_steps(unsigned rows, unsigned width)
{
    Workload workload;
    std::vector<ValueId> row;

    for (unsigned i = 0; i < width; i++)
        row.push_back(workload.input(Content(1)));
    for (unsigned r = 0; r < rows; r++) {
        std::vector<ValueId> next;
        for (unsigned i = 0; i < width; i++)
            next.push_back(workload.step("nothing", {{1, 1, 1}, {32, 1, 1}}, {row[i], row[(i + 1) % width]}, 1));
        row = std::move(next);
    }
    workload.name = "empty" + std::to_string(rows * width);
    workload.inputs_stay = workload.results_stay = true;
    workload.results = row;
    return workload;
}

} // namespace ptsched::paper
