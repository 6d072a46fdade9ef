// SPDX-License-Identifier: MIT
/* What a kernel takes is known before it is launched. */
#include "tests/device/cases.hpp"
#include <ptsched/ptask/graph.hpp>

using namespace ptsched;
using namespace ptsched::ptask;

namespace {

void of_a_kernel()
{
    auto code = device::cuda_code(*device::gpus().at(0), test::kernels(), "spin");
    auto sizes = code->parameter_sizes();

    CHECK((sizes == std::vector<std::size_t>{sizeof(void *), sizeof(long long), sizeof(unsigned)}));
}

/* Both are in one file, which is loaded once. */
void of_one_of_two_kernels()
{
    auto spin = device::cuda_code(*device::gpus().at(0), test::kernels(), "spin");
    auto add = device::cuda_code(*device::gpus().at(0), test::kernels(), "vector_add");

    CHECK_EQ(add->parameter_sizes()->size(), 4u);
    add.reset();
    CHECK_EQ(spin->parameter_sizes()->size(), 3u);
}

void of_a_host_function()
{
    auto code = device::host_code([](const std::vector<void *> &) {});

    CHECK(!code->parameter_sizes());
}

void tasks_that_do_not_fit()
{
    Graph graph;
    auto four = Template::of<float>(4);
    auto add = [&](const std::vector<PortOptions> &ports) {
        graph.cuda("add", {test::kernels(), "vector_add"}, ports);
    };

    CHECK(test::refused(
        [&] {
            add({in("a", four), in("b", four), out("c", four)});
        },
        {"add", "vector_add", "4 parameters", "8 8 8 4", "give 3", "a 8 b 8 c 8"}));
    CHECK(test::refused(
        [&] {
            add({in("a", four), in("b", four), out("c", four), value("n", 8)});
        },
        {"add", "vector_add", "8 8 8 4", "a 8 b 8 c 8 n 8"}));
    /* By address, however small it is. */
    CHECK(test::refused(
        [&] {
            add({in("a", four), in("b", four), out("c", four), in("n", Template::of<int>(1))});
        },
        {"add", "8 8 8 4", "n 8"}));
    add({in("a", four), in("b", four), out("c", four), value("n", 4)});
}

} // namespace

std::vector<tap::Case> test::parameter_cases()
{
    return {{"the sizes of a kernel's parameters", of_a_kernel},
            {"code outlives other code of its module", of_one_of_two_kernels},
            {"nobody knows a host function's", of_a_host_function},
            {"a task whose ports do not fit its kernel is refused", tasks_that_do_not_fit}};
}
