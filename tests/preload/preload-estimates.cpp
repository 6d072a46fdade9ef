// SPDX-License-Identifier: MIT
/* What is expected of a submission, and when it need not be measured. */
#include "libptsched/preload/meter/estimate.hpp"
#include "tests/vgpu/tap.h"

namespace {

using ptsched::preload::Estimates;
using ptsched::preload::Key;

constexpr Key one{1ull << 60, 2ull << 60, 0}, like_one{3ull << 60, 2ull << 60, 0}, another{5ull << 60, 6ull << 60, 7};

void learn(Estimates &estimates, const Key &key, std::uint64_t ns, int times)
{
    for (int i = 0; i < times; i++)
        estimates.learn(key, ns);
}

void next_best_guess()
{
    Estimates estimates;
    CHECK_EQ(estimates.of(one), 0u);
    CHECK_EQ(estimates.of(another), 7u);
    estimates.learn(one, 1000);
    CHECK_EQ(estimates.of(one), 1000u);
    CHECK_EQ(estimates.of(like_one), 1000u);
}

void known_when_stable()
{
    Estimates estimates;
    learn(estimates, one, 100000, 7);
    CHECK(!estimates.knows(one));
    learn(estimates, one, 100000, 1);
    CHECK(estimates.knows(one));
    CHECK(!estimates.knows(like_one));
}

void an_outlier_is_looked_into()
{
    Estimates estimates;
    learn(estimates, one, 100000, 20);
    estimates.learn(one, 200000);
    CHECK(!estimates.knows(one));
    learn(estimates, one, 100000, 20);
    CHECK(estimates.knows(one));
    CHECK(estimates.of(one) < 101000);
}

void never_known_where_it_varies()
{
    Estimates estimates;
    for (int i = 0; i < 100; i++) {
        estimates.learn(one, i % 2 ? 100000 : 200000);
        CHECK(!estimates.knows(one));
    }
}

/* Events tell no better. */
void short_ones_may_vary()
{
    Estimates estimates;
    for (int i = 0; i < 20; i++)
        estimates.learn(one, i % 2 ? 3000 : 4500);
    CHECK(estimates.knows(one));
    CHECK(estimates.of(one) > 3000 && estimates.of(one) < 4500);
}

/* The sum of many is right all the same. */
void a_mean_needs_no_agreement()
{
    Estimates estimates;
    for (int i = 0; i < 8; i++) {
        CHECK(!estimates.has_mean(one));
        estimates.learn(one, i % 2 ? 10000 : 60000);
    }
    CHECK(estimates.has_mean(one));
    CHECK(!estimates.knows(one));
    CHECK(!estimates.has_mean(like_one));
}

} // namespace

int main()
{
    return tap::run({
        {"exactly this, else one of its kind, else a guess", next_best_guess},
        {"known after eight that took the same", known_when_stable},
        {"one that takes longer is looked into", an_outlier_is_looked_into},
        {"what varies is always measured", never_known_where_it_varies},
        {"a mean is had after eight, whatever they took", a_mean_needs_no_agreement},
        {"short ones may vary by what events err", short_ones_may_vary},
    });
}
