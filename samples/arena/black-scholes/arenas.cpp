// SPDX-License-Identifier: MIT
/* What changes each day goes back and forth, options stay where they are used. */
#include "samples/arena/black-scholes/problem.hpp"
#include "samples/arena/common/handing.hpp"

namespace ptsched::black_scholes {

namespace {

class ByArenas : public Pricing {
public:
    ByArenas(Problem &problem, const std::string &module, samples::Handing handing)
        : Pricing(problem, module), window_(handing), options_(window_.make("options", Book::bytes(problem.shape))),
          daily_(window_.make("market and results", sizeof(Market) + 2 * problem.shape.options * sizeof(float))),
          book_(daily_.resource(), options_.resource(), daily_.resource(), problem.shape)
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
        window_.to_gpu(daily_);
        end(samples::Part::copies);
        launch({book_.market, book_.strike.data(), book_.years.data(), book_.underlying.data(), book_.call.data(),
                book_.put.data()},
               0, problem.shape.options);
        gpu.stream.finish();
        end(samples::Part::kernels);
        window_.to_host(daily_, {samples::range_of(book_.call), samples::range_of(book_.put)});
        end(samples::Part::copies);
    }

    void take_back() override { window_.to_host(options_, {}); }
    /* The market is as if the host had it from somewhere: the first day brings it. */
    void give_results() override
    {
        window_.to_gpu(daily_);
        window_.to_host(daily_, {});
        const Market market = *book_.market;
        *book_.market = market;
    }

private:
    samples::HandedWindow window_;
    arena::Arena options_, daily_;
    const Book book_;
};

} // namespace

std::unique_ptr<samples::Variant> by_arenas(Problem &problem, const std::string &module, samples::Handing handing)
{
    return std::make_unique<ByArenas>(problem, module, handing);
}

} // namespace ptsched::black_scholes
