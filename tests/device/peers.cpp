// SPDX-License-Identifier: MIT
/* Copies from one GPU to another. */
#include "tests/device/work.hpp"
#include "tests/host_flag.h"

using namespace test;

namespace {

DatablockPtr sum_of_two_gpus(bool &by_the_host)
{
    Adder first(*device::gpus().at(0)), second(*device::gpus().at(1));
    auto a = filled(1, 4096), b = filled(2, 4096);
    auto sum = first.add(a, b);
    auto again = second.add(sum, sum);
    by_the_host = !sum->missing(device::host());
    CHECK(!sum->missing(first.gpu) && !sum->missing(second.gpu));
    first.finish();
    second.finish();
    CHECK(holds(*sum, 3));
    return again;
}

void without_the_host()
{
    bool by_the_host = true;
    CHECK(device::gpus().at(1)->reaches(*device::gpus().at(0)));
    CHECK(!device::gpus().at(0)->reaches(device::host()));
    CHECK(holds(*sum_of_two_gpus(by_the_host), 6));
    CHECK(!by_the_host);
}

void by_way_of_the_host()
{
    bool by_the_host = false;
    CHECK(!device::gpus().at(1)->reaches(*device::gpus().at(0)));
    CHECK(holds(*sum_of_two_gpus(by_the_host), 6));
    CHECK(by_the_host);
}

void on_other_machines()
{
    CHECK(pass_elsewhere("PTSCHED_VGPU_PEERS=0", "apart"));
}

/* Where one GPU's memory is full of what the other has as well. */
void copies_of_each_other_are_not_both_evicted()
{
    Limit one(*device::gpus().at(0), 3 * 1024), two(*device::gpus().at(1), 3 * 1024);
    Adder first(*device::gpus().at(0)), second(*device::gpus().at(1));
    auto a = filled(1, 1024);
    auto sum = first.add(a, a);
    CHECK(holds(*second.add(sum, sum), 4));
    for (int i = 0; i < 4; i++) {
        first.add(a, filled(1, 1024));
        second.add(a, filled(1, 1024));
    }
    first.finish();
    second.finish();
    CHECK(sum->missing(first.gpu) && sum->missing(second.gpu));
    CHECK(holds(*sum, 2));
}

/* The first GPU, with a queue whose work goes on when the flag is raised. */
class Late : public Adder {
public:
    Late()
        : Adder(*device::gpus().at(0)), code_(device::cuda_code(gpu, kernels(), "wait_for_host", device::Module::own)),
          seen_(device::Datablock::empty(sizeof(unsigned)))
    {
        device::Address address = HostFlag::address(), seen = seen_->produce(gpu, *queue);
        queue->run(*code_, {}, {&address, &seen});
    }
    ~Late()
    {
        flag.raise();
        finish();
    }

    HostFlag flag;

private:
    const std::unique_ptr<device::Code> code_;
    const DatablockPtr seen_;
};

/* What is on its way to another GPU comes from the host, where it is already. */
void late_copies_are_not_waited_for()
{
    Late first;
    Adder second(*device::gpus().at(1));
    const auto a = filled(1, 4096);
    const auto late = first.add(a, a), soon = second.add(a, a);
    CHECK(holds(*soon, 2));
    CHECK(!first.flag.is_raised());
    first.flag.raise();
    CHECK(holds(*late, 2));
}

/* What has to wait for another GPU does not keep what is behind it from being copied. */
void late_copies_hold_up_none()
{
    Late first;
    Adder other(*device::gpus().at(1)), second(other.gpu);
    const auto copies = other.gpu.make_queue();
    const auto a = filled(1, 4096), b = filled(2, 4096);
    const auto late = first.add(a, a);
    const auto use = [&](Adder &adder, const DatablockPtr &block) {
        const device::Access::Item item = device::Access::reads(*block);
        device::Address address;
        device::Access access(adder.gpu, *adder.queue, *copies, {&item, 1}, &address);
        access.given(adder.queue->mark());
    };
    use(other, late);
    use(second, b);
    CHECK(holds(*second.add(b, b), 4));
    CHECK(!first.flag.is_raised());
    first.flag.raise();
    CHECK(holds(*other.add(late, late), 4));
}

} // namespace

std::vector<tap::Case> test::peer_cases()
{
    return {{"a copy from one GPU to another without the host", without_the_host},
            {"by way of the host where GPUs do not reach each other", on_other_machines},
            {"copies of each other are not both evicted", copies_of_each_other_are_not_both_evicted},
            {"what is on its way to another GPU comes from the host", late_copies_are_not_waited_for},
            {"what waits for another GPU holds up no other copies", late_copies_hold_up_none}};
}

std::vector<tap::Case> test::apart_cases()
{
    return {{"by way of the host", by_way_of_the_host}};
}
