// SPDX-License-Identifier: MIT
/* Datablocks in slices; datablocks that are brought somewhere ahead of use; memory that is given back. */
#include "tests/device/work.hpp"
#include <ptsched/device/slices.hpp>

#include <numeric>

using namespace test;
using device::Access;
using device::Datablock;
using device::Slices;

namespace {

constexpr std::size_t kilo = 1024;

/* Whether a quarter of its floats has each of the values. */
bool has_quarters(Datablock &block, const std::array<float, 4> &values)
{
    auto all = block.as<float>();
    for (std::size_t i = 0; i < all.size(); i++)
        if (all[i] != values[i * 4 / all.size()])
            return false;
    return true;
}

device::Address address_of(Datablock &block, device::Device &device, device::Queue &queue)
{
    const Access::Item items[] = {Access::reads(block)};
    device::Address address = 0;
    Access access(device, queue, items, &address);
    access.given(queue.mark());
    return address;
}

void sizes_of_slices()
{
    using Sizes = std::vector<std::size_t>;
    CHECK((Slices::equal(4 * kilo, 4) == Sizes{kilo, kilo, kilo, kilo}));
    CHECK((Slices::equal(1000, 3) == Sizes{512, 488}));
    CHECK((Slices::equal(100, 3) == Sizes{100}));
    CHECK(Slices::equal(0, 3).empty());
    CHECK(refused([] { Slices::equal(100, 0); }, {"0 slices"}));
    Adder adder(gpu());
    auto divide = [&](const Sizes &sizes) {
        return [&adder, sizes] { Slices(filled(1, 4 * kilo), gpu(), *adder.queue, sizes); };
    };
    CHECK(refused(divide({kilo, kilo}), {"2048 bytes", "4096"}));
    CHECK(refused(divide({4 * kilo, kilo}), {"slice 1", "0 are left"}));
    CHECK(refused(divide({100, 4 * kilo - 100}), {"slice 0", "100 bytes", "multiple of 256"}));
    CHECK(refused(divide({0, 4 * kilo}), {"slice 0", "0 bytes"}));
    CHECK(refused([&] { Slices(nullptr, gpu(), *adder.queue, Sizes{kilo}); }, {"null"}));
}

/* Each by another queue, at its place, and nothing is copied. */
void different_work_at_once()
{
    Adder first(gpu()), second(gpu());
    auto whole = filled(1, 4 * kilo), ten = filled(10, kilo), twenty = filled(20, kilo);
    const device::Address address = address_of(*whole, gpu(), *first.queue);
    Slices slices(whole, gpu(), *first.queue, Slices::equal(whole->bytes(), 4));
    CHECK_EQ(slices.size(), std::size_t{4});
    for (std::size_t i = 0; i < 4; i++) {
        CHECK_EQ(slices[i]->missing(gpu()), std::size_t{0});
        CHECK_EQ(address_of(*slices[i], gpu(), *second.queue), address + i * kilo);
    }
    first.add_to(slices[1], ten);
    second.add_to(slices[2], twenty);
    CHECK(holds(*slices[2], 21));
    CHECK(slices[1]->missing(device::host()) && slices[3]->missing(device::host()));
    slices.join(*first.queue);
    CHECK_EQ(address_of(*whole, gpu(), *second.queue), address);
    CHECK(has_quarters(*whole, {1, 11, 21, 1}));
}

/* Where they were written does not matter. */
void on_several_devices()
{
    Adder here(gpu()), there(*device::gpus().at(1));
    auto whole = filled(1, 4 * kilo), ten = filled(10, kilo), twenty = filled(20, kilo);
    Slices slices(whole, gpu(), *here.queue, Slices::equal(whole->bytes(), 4));
    there.add_to(slices[0], ten);
    there.add_to(slices[3], ten);
    here.add_to(slices[3], twenty);
    CHECK(slices[0]->missing(gpu()) && !slices[3]->missing(gpu()));
    slices.join(*here.queue);
    CHECK(has_quarters(*whole, {11, 1, 1, 31}));
    here.add_to(whole, filled(1, 4 * kilo));
    CHECK(has_quarters(*whole, {12, 2, 2, 32}));
}

void on_the_host()
{
    auto queue = device::host().make_queue();
    auto whole = filled(1, 4 * kilo), ten = filled(10, kilo);
    Adder adder(gpu());
    Slices slices(whole, device::host(), *queue, Slices::equal(whole->bytes(), 4));
    adder.add_to(slices[1], ten);
    adder.finish();
    slices.join(*queue);
    CHECK(has_quarters(*whole, {1, 11, 1, 1}));
}

void written_slice_by_slice()
{
    Adder adder(gpu());
    auto whole = Datablock::empty(2 * kilo), one = filled(1, kilo);
    Slices slices(whole, gpu(), *adder.queue, Slices::equal(whole->bytes(), 2));
    auto write = [&](std::size_t slice, const DatablockPtr &source) {
        const Access::Item items[] = {Access::writes(*slices[slice], source.get())};
        device::Address address;
        Access access(gpu(), *adder.queue, items, &address);
        access.given(adder.queue->mark());
    };
    write(0, one);
    CHECK(refused([&] { slices.join(*adder.queue); }, {"slice 1", "never written"}));
    write(1, filled(5, kilo));
    slices.join(*adder.queue);
    CHECK(has_quarters(*whole, {1, 1, 5, 5}));
}

void only_one_way_at_a_time()
{
    Adder adder(gpu());
    auto whole = filled(1, 2 * kilo), lost = filled(1, 2 * kilo), one = filled(1, 2 * kilo);
    DatablockPtr slice;
    {
        Slices slices(whole, gpu(), *adder.queue, Slices::equal(whole->bytes(), 2));
        slice = slices[0];
        CHECK(refused([&] { whole->read(); }, {"2048 bytes", "divided", "join"}));
        CHECK(refused([&] { adder.add(whole, one); }, {"divided"}));
        CHECK(refused([&] { adder.add_to(whole, one); }, {"divided"}));
        CHECK(refused([&] { Slices(whole, gpu(), *adder.queue, Slices::equal(2 * kilo, 2)); }, {"divided"}));
        slices.join(*adder.queue);
    }
    CHECK(holds(*whole, 1));
    CHECK(refused([&] { adder.add(slice, one); }, {"1024 bytes", "was a slice"}));
    Slices(lost, gpu(), *adder.queue, Slices::equal(2 * kilo, 2));
    CHECK(refused([&] { lost->read(); }, {"never joined"}));
}

/* Their memory is the whole's, which nobody else gets; copies elsewhere come and go as others do. */
void slices_are_not_evicted()
{
    Limit limit(gpu(), 3 * kilo);
    Adder adder(gpu());
    auto whole = filled(1, 2 * kilo);
    DatablockPtr left;
    {
        Slices slices(whole, gpu(), *adder.queue, Slices::equal(whole->bytes(), 2));
        auto other = filled(3, kilo);
        adder.add_to(slices[0], filled(1, kilo));
        adder.finish();
        address_of(*other, gpu(), *adder.queue);
        CHECK(!slices[0]->missing(gpu()) && !slices[1]->missing(gpu()));
        slices.join(*adder.queue);
        left = slices[1];
    }
    left.reset();
    adder.finish();
    auto large = filled(2, 2 * kilo);
    address_of(*large, gpu(), *adder.queue);
    CHECK(whole->missing(gpu()) > 0);
    CHECK(has_quarters(*whole, {2, 2, 1, 1}));
}

void ahead_of_use()
{
    Adder adder(gpu());
    auto block = filled(1, kilo), sum = adder.add(block, block), none = Datablock::empty(kilo);
    auto other = filled(2, kilo);
    other->prefetch(gpu());
    other->prefetch(gpu());
    CHECK(!other->missing(gpu()));
    CHECK(holds(*adder.add(other, sum), 4));
    sum->prefetch(device::host());
    CHECK(!sum->missing(device::host()));
    sum->prefetch(*device::gpus().at(1));
    CHECK(!sum->missing(*device::gpus().at(1)));
    CHECK(holds(*sum, 2));
    none->prefetch(gpu());
    CHECK(!none->has_content() && none->missing(gpu()));
}

/* What is used is not evicted for a hint, and the hint is no error. */
void no_memory_for_a_hint()
{
    Limit limit(gpu(), kilo);
    Adder adder(gpu());
    auto used = filled(1, kilo), hinted = filled(2, kilo);
    used->use(gpu(), *adder.queue);
    hinted->prefetch(gpu());
    CHECK(hinted->missing(gpu()) > 0);
}

void given_back_down_to()
{
    for (device::Device *one : {&gpu(), &device::host()}) {
        one->trim(0);
        std::array<device::Address, 4> addresses;
        for (device::Address &address : addresses)
            address = one->allocate(8 * kilo);
        for (device::Address address : addresses)
            one->release(address, 8 * kilo);
        CHECK_EQ(one->trim(64 * kilo), std::size_t{0});
        CHECK_EQ(one->trim(20 * kilo), 16 * kilo);
        CHECK_EQ(one->trim(0), 16 * kilo);
        CHECK_EQ(one->trim(0), std::size_t{0});
    }
}

} // namespace

std::vector<tap::Case> test::slice_cases()
{
    return {{"sizes of slices", sizes_of_slices},
            {"slices of a datablock, by different work", different_work_at_once},
            {"slices on several devices", on_several_devices},
            {"slices on the host", on_the_host},
            {"a datablock is written slice by slice", written_slice_by_slice},
            {"either the whole is used or its slices", only_one_way_at_a_time},
            {"slices are not evicted", slices_are_not_evicted},
            {"a datablock is brought ahead of use", ahead_of_use},
            {"a hint that needs memory", no_memory_for_a_hint},
            {"memory is given back down to what is to be kept", given_back_down_to}};
}
