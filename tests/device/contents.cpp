// SPDX-License-Identifier: MIT
/* Datablocks that begin with another's content, and such as are written over in place. */
#include "tests/device/work.hpp"

using namespace test;
using ptsched::device::Access;
using ptsched::device::Address;
using ptsched::device::Datablock;

namespace {

constexpr std::size_t bytes = 4096;

/* A block with the content of @source, made there. */
DatablockPtr copy_on(device::Device &device, device::Queue &queue, Datablock &source)
{
    auto copy = Datablock::empty(source.bytes());
    const Access::Item items[] = {Access::writes(*copy, &source)};
    Address address;
    Access access(device, queue, items, &address);
    auto marker = queue.mark();
    access.given(marker);
    marker->wait();
    return copy;
}

void begins_with_another()
{
    Adder adder(gpu());
    auto on_host = filled(3, bytes);
    auto copy = copy_on(gpu(), *adder.queue, *on_host);
    CHECK(on_host->missing(gpu()));
    CHECK(copy->missing(device::host()));
    auto on_gpu = adder.add(copy, copy);
    auto again = copy_on(gpu(), *adder.queue, *on_gpu);
    CHECK(on_gpu->missing(device::host()) && again->missing(device::host()));
    auto queue = device::host().make_queue();
    CHECK(holds(*copy_on(device::host(), *queue, *again), 6));
    CHECK(holds(*copy_on(device::host(), *queue, *on_host), 3));
    CHECK(holds(*copy, 3) && holds(*on_gpu, 6) && holds(*again, 6));
    adder.finish();
}

/* Work that never comes leaves nothing behind, whatever has been begun for it. */
void begun_in_vain()
{
    Adder adder(gpu());
    auto source = filled(5, bytes), made = Datablock::empty(bytes);
    {
        const Access::Item items[] = {Access::writes(*made, source.get())};
        Address address;
        Access access(gpu(), *adder.queue, items, &address);
        CHECK(made->has_content());
    }
    CHECK(!made->has_content());
    CHECK(holds(*adder.add(source, source), 10));
    adder.finish();
}

void in_place()
{
    Adder adder(gpu());
    auto one = filled(1, bytes);
    auto sum = adder.add(one, one);
    for (int i = 0; i < 5; i++)
        adder.add_to(sum, one);
    CHECK(holds(*sum, 7));
    /* That has left a copy on the host, which must not be what somebody finds next. */
    adder.add_to(sum, one);
    CHECK(holds(*sum, 8));
    adder.finish();
}

void in_place_after_an_eviction()
{
    Limit limit(gpu(), 3 * bytes);
    Adder adder(gpu());
    auto one = filled(1, bytes), other = filled(2, bytes);
    auto sum = adder.add(one, one);
    adder.finish();
    auto big = adder.add(other, other);
    adder.finish();
    auto bigger = adder.add(big, big);
    adder.finish();
    adder.add(bigger, bigger);
    adder.finish();
    CHECK(sum->missing(gpu()));
    adder.add_to(sum, one);
    CHECK(sum->missing(device::host()));
    CHECK(holds(*sum, 3));
    CHECK(holds(*bigger, 8));
}

} // namespace

std::vector<tap::Case> test::content_cases()
{
    return {{"a datablock that begins with another's content", begins_with_another},
            {"what was begun for work that does not come", begun_in_vain},
            {"a datablock that is written over in place", in_place},
            {"in place, after it had to make room", in_place_after_an_eviction}};
}
