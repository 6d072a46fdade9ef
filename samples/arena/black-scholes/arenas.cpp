// SPDX-License-Identifier: MIT
/* The market goes back and forth, results come back, and options stay where they are used. */
#include "samples/arena/black-scholes/problem.hpp"
#include "samples/arena/common/handing.hpp"

namespace ptsched::black_scholes {

namespace {

class ByArenas : public Pricing {
public:
    ByArenas(Problem &problem, const std::string &module, samples::Handing handing)
        : Pricing(problem, module), window_(handing), market_(window_.make("market", sizeof(Market))),
          options_(window_.make("options", Book::bytes(problem.shape))),
          results_(window_.make("results", 2 * problem.shape.options * sizeof(float))),
          book_(market_.resource(), options_.resource(), results_.resource(), problem.shape)
    {
    }
    std::map<std::string, double> counts() const override { return window_.counts(); }

protected:
    const Book &book() const override { return book_; }

    void begin() override
    {
        window_.to_gpu(options_);
        end(samples::Part::copies);
    }

    void price() override
    {
        window_.to_gpu(market_);
        window_.to_gpu(results_);
        end(samples::Part::copies);
        launch({book_.market, book_.strike.data(), book_.years.data(), book_.underlying.data(), book_.call.data(),
                book_.put.data()},
               0, problem.shape.options);
        gpu.stream.finish();
        end(samples::Part::kernels);
        window_.to_host(market_, {});
        window_.to_host(results_, {samples::range_of(book_.call), samples::range_of(book_.put)});
        end(samples::Part::copies);
    }

    void take_back() override { window_.to_host(options_, {}); }
    void give_results() override { window_.to_gpu(results_); }

private:
    samples::HandedWindow window_;
    arena::Arena market_, options_, results_;
    const Book book_;
};

} // namespace

std::unique_ptr<samples::Variant> by_arenas(Problem &problem, const std::string &module, samples::Handing handing)
{
    return std::make_unique<ByArenas>(problem, module, handing);
}

} // namespace ptsched::black_scholes
