// SPDX-License-Identifier: MIT
/* Who of two engines does a request. */
#include "tests/encfs/encfs_test.hpp"

namespace test {

namespace {

/* Does nothing but count, or cannot do anything. */
class Counting final : public Engine {
public:
    explicit Counting(unsigned &count, bool fails = false) : count_(count), fails_(fails) {}
    std::string name() const override { return "counting"; }
    void encrypt(const Secret &, std::uint64_t, ConstBytes, Bytes) override { run(); }
    void decrypt(const Secret &, std::uint64_t, Bytes) override { run(); }

private:
    void run()
    {
        count_++;
        if (fails_)
            throw NotDone("it is a test");
    }
    unsigned &count_;
    const bool fails_;
};

void both_are_tried()
{
    unsigned one = 0, other = 0;
    const auto both = make_choosing_engine(std::make_unique<Counting>(one), std::make_unique<Counting>(other));
    std::vector<std::byte> sectors(sector_bytes);
    for (unsigned i = 0; i < 500; i++) {
        both->encrypt(Secret(), i, sectors);
        both->decrypt(Secret(), i, sectors);
    }
    CHECK_EQ(one + other, 1000u);
    CHECK(one > 5 && other > 5);
}

/* Nothing of that is seen but that the other one does all. */
void one_fails()
{
    unsigned one = 0, other = 0;
    const auto both = make_choosing_engine(std::make_unique<Counting>(one), std::make_unique<Counting>(other, true));
    std::vector<std::byte> sectors(sector_bytes);
    for (unsigned i = 0; i < 100; i++)
        both->encrypt(Secret(), i, sectors);
    CHECK_EQ(one, 100u);
    CHECK_EQ(other, 1u);
}

} // namespace

std::vector<tap::Case> choosing_cases()
{
    return {{"of two engines both are tried", both_are_tried}, {"of two engines one fails", one_fails}};
}

} // namespace test
