// SPDX-License-Identifier: MIT
/* Options are copied once, the market each day; results come back by parts, while the next part is priced. */
#include "samples/arena/black-scholes/problem.hpp"

namespace ptsched::black_scholes {

namespace {

using namespace samples::driver;

constexpr std::size_t parts = 8;

class ByHand : public Pricing {
public:
    ByHand(Problem &problem, const std::string &module)
        : Pricing(problem, module), pinned_(Book::bytes(problem.shape)), book_(pinned_, problem.shape), market_(1),
          strike_(problem.shape.options), years_(problem.shape.options), underlying_(problem.shape.options),
          call_(problem.shape.options), put_(problem.shape.options)
    {
    }

protected:
    const Book &book() const override { return book_; }

    void begin() override
    {
        upload(strike_.data(), book_.strike.data(), problem.shape.options, gpu.stream);
        upload(years_.data(), book_.years.data(), problem.shape.options, gpu.stream);
        upload(underlying_.data(), book_.underlying.data(), problem.shape.options, gpu.stream);
        end(samples::Part::copies);
    }

    void price() override
    {
        upload(market_.data(), book_.market, 1, gpu.stream);
        end(samples::Part::copies);
        const std::size_t part = (problem.shape.options + parts - 1) / parts;
        for (std::size_t first = 0; first < problem.shape.options; first += part)
            price_part(first, std::min(part, problem.shape.options - first));
        to_host_.finish();
    }

private:
    void price_part(std::size_t first, std::size_t count)
    {
        launch({market_.data(), strike_.data(), years_.data(), underlying_.data(), call_.data(), put_.data()}, first,
               count);
        priced_.record(gpu.stream);
        priced_.hold_back(to_host_);
        end(samples::Part::kernels);
        download(&book_.call[first], call_.data() + first, count, to_host_);
        download(&book_.put[first], put_.data() + first, count, to_host_);
        split.end(samples::Part::copies, to_host_);
    }

    samples::PinnedMemory pinned_;
    const Book book_;
    const Memory<Market> market_;
    const Memory<float> strike_, years_;
    const Memory<unsigned short> underlying_;
    const Memory<float> call_, put_;
    const Stream to_host_;
    const Event priced_;
};

} // namespace

std::unique_ptr<samples::Variant> by_hand(Problem &problem, const std::string &module)
{
    return std::make_unique<ByHand>(problem, module);
}

} // namespace ptsched::black_scholes
