// SPDX-License-Identifier: MIT
/* The driver moves what is touched. */
#include "samples/arena/black-scholes/problem.hpp"

namespace ptsched::black_scholes {

namespace {

class Managed : public Pricing {
public:
    Managed(Problem &problem, const std::string &module)
        : Pricing(problem, module), memory_(Book::bytes(problem.shape)), book_(memory_, problem.shape)
    {
    }

protected:
    const Book &book() const override { return book_; }
    void begin() override {}

    void price() override
    {
        launch({book_.market, book_.strike.data(), book_.years.data(), book_.underlying.data(), book_.call.data(),
                book_.put.data()},
               0, problem.shape.options);
        gpu.stream.finish();
        end(samples::Part::kernels);
    }

private:
    samples::ManagedMemory memory_;
    const Book book_;
};

} // namespace

std::unique_ptr<samples::Variant> managed(Problem &problem, const std::string &module)
{
    return std::make_unique<Managed>(problem, module);
}

} // namespace ptsched::black_scholes
