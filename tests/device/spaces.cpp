// SPDX-License-Identifier: MIT
/* Memory by its kind: who reaches it, at which address, and whose pool it is from. */
#include "libptsched/device/rows.hpp"
#include "tests/device/work.hpp"
#include <ptsched/device/addresses.hpp>
#include <ptsched/device/allocation.hpp>

#include <numeric>

using namespace test;
using device::Advice;
using device::Allocation;
using device::Space;

namespace {

constexpr unsigned count = 256;
constexpr std::size_t bytes = count * sizeof(float), kilo = 1024;

/* Adds one vector to another, each wherever it is, and waits. */
class InPlace {
public:
    explicit InPlace(device::Device &gpu)
        : queue(gpu.make_queue()), code_(device::cuda_code(gpu, kernels(), "vector_add"))
    {
    }
    void add(device::Address to, device::Address what)
    {
        unsigned n = count;
        queue->run(*code_, {{1, 1, 1}, {count, 1, 1}}, {&to, &what, &to, &n});
        queue->finish();
    }
    const std::unique_ptr<device::Queue> queue;

private:
    const std::unique_ptr<device::Code> code_;
};

void fill(Allocation &memory, float value)
{
    auto *values = static_cast<float *>(memory.host_address());
    std::fill(values, values + count, value);
}

bool all_are(const void *memory, float value)
{
    auto *values = static_cast<const float *>(memory);
    return std::all_of(values, values + count, [=](float one) { return one == value; });
}

/* What a GPU does there is there for the host, and the other way round. */
void of_both_sides(Allocation memory, Space space)
{
    InPlace work(gpu());
    auto two = Allocation::pinned(bytes);
    CHECK(memory.space() == space);
    CHECK(memory.bytes() >= bytes);
    CHECK(memory.reached_by(gpu()) && memory.reached_by(device::host()));
    fill(memory, 1);
    fill(two, 2);
    work.add(memory.address(), two.address());
    CHECK(all_are(memory.host_address(), 3));
}

void what_both_sides_reach()
{
    std::vector<float> own(count);
    of_both_sides(Allocation::pinned(bytes), Space::pinned);
    of_both_sides(Allocation::managed(gpu(), bytes), Space::managed);
    of_both_sides(Allocation::registered(own.data(), bytes), Space::registered);
    CHECK(all_are(own.data(), 3));
}

void what_is_a_devices()
{
    InPlace work(gpu());
    auto memory = Allocation::on_device(gpu(), bytes), here = Allocation::pinned(bytes);
    CHECK(memory.space() == Space::device && &memory.home() == &gpu());
    CHECK(!memory.host_address());
    CHECK(memory.reached_by(gpu()) && !memory.reached_by(device::host()));
    CHECK(memory.reached_by(*device::gpus().at(1)));
    fill(here, 4);
    work.queue->upload(memory.address(), here.host_address(), bytes);
    work.add(memory.address(), here.address());
    work.queue->download(here.host_address(), memory.address(), bytes);
    work.queue->finish();
    CHECK(all_are(here.host_address(), 8));
}

/* It goes back to where others get theirs from. */
void pools_are_everybodys()
{
    device::trim();
    const device::Address first = Allocation::on_device(gpu(), bytes).address();
    auto block = filled(1, bytes);
    Adder adder(gpu());
    CHECK_EQ(block->use(gpu(), *adder.queue), first);
}

void empty_ones()
{
    Allocation none;
    CHECK(none.empty() && !none.bytes());
    auto some = Allocation::pinned(bytes);
    const device::Address address = some.address();
    none = std::move(some);
    CHECK(some.empty() && !none.empty());
    CHECK_EQ(none.address(), address);
    CHECK(std::string(to_string(none.space())) == "pinned");
}

void registered_once()
{
    std::vector<float> own(2 * count);
    {
        auto first = Allocation::registered(own.data(), bytes);
        CHECK(refused([&] { Allocation::registered(own.data() + count / 2, bytes); }, {"registered already"}));
    }
    Allocation::registered(own.data() + count / 2, bytes);
    CHECK(refused([&] { Allocation::registered(nullptr, bytes); }, {"null pointer"}));
    CHECK(refused([&] { Allocation::registered(own.data(), 0); }, {"0 bytes"}));
}

/* The driver copies no more at once than was registered at once. */
void across_registrations()
{
    constexpr std::size_t parts = 5;
    std::vector<float> own(parts * count), back(parts * count);
    std::iota(own.begin(), own.end(), 1.0F);
    std::vector<Allocation> registered;
    for (const std::size_t part : {0, 1, 3})
        registered.push_back(Allocation::registered(own.data() + part * count, bytes));
    registered.push_back(Allocation::registered(back.data() + count / 2, bytes));
    registered.push_back(Allocation::registered(back.data() + count / 2 + count, bytes));
    const auto on_gpu = Allocation::on_device(gpu(), parts * bytes);
    const auto queue = gpu().make_queue();
    for (const std::size_t first : std::initializer_list<std::size_t>{count / 2, 0}) {
        queue->upload(on_gpu.address(), own.data() + first, parts * bytes - first * sizeof(float));
        queue->download(back.data() + first, on_gpu.address(), parts * bytes - first * sizeof(float));
        queue->finish();
        CHECK(std::equal(own.begin() + static_cast<std::ptrdiff_t>(first), own.end(),
                         back.begin() + static_cast<std::ptrdiff_t>(first)));
    }
    device::upload_rows(gpu(), *queue, on_gpu.address(), own.data(), {bytes / 2, parts, bytes});
    queue->download(back.data(), on_gpu.address(), parts * bytes / 2);
    queue->finish();
    CHECK(back[count / 2] == own[count] && back[2 * count] == own[4 * count]);
}

/* Both GPUs work at the same address, one after the other. */
void with_both_gpus(Allocation &memory)
{
    InPlace first(*device::gpus().at(0)), second(*device::gpus().at(1));
    auto here = Allocation::pinned(bytes);
    fill(here, 1);
    first.queue->upload(memory.address(), here.host_address(), bytes);
    first.queue->finish();
    for (InPlace *one : {&second, &first, &second})
        one->add(memory.address(), here.address());
    first.queue->download(here.host_address(), memory.address(), bytes);
    first.queue->finish();
    CHECK(all_are(here.host_address(), 4));
}

void one_address_for_two()
{
    auto memory = Allocation::one_address(device::gpus(), bytes);
    CHECK(memory.space() == Space::mapped && &memory.home() == device::gpus().at(0));
    CHECK_EQ(memory.bytes(), bytes);
    for (device::Device *one : device::gpus())
        CHECK(memory.reached_by(*one));
    CHECK(!memory.reached_by(device::host()) && !memory.host_address());
    with_both_gpus(memory);
}

void one_address_with_the_host()
{
    device::Device *all[] = {&device::host(), device::gpus().at(0), device::gpus().at(1)};
    auto memory = Allocation::one_address(all, bytes);
    CHECK(memory.space() == Space::managed);
    for (device::Device *one : all)
        CHECK(memory.reached_by(*one));
    with_both_gpus(memory);
    CHECK(all_are(memory.host_address(), 4));
}

void one_address_for_one()
{
    device::Device *only[] = {&gpu(), &gpu()}, *null[] = {nullptr};
    CHECK(Allocation::one_address(only, bytes).space() == Space::device);
    CHECK(refused([] { Allocation::one_address({}, bytes); }, {"no device"}));
    CHECK(refused([&] { Allocation::one_address(null, bytes); }, {"null"}));
}

void not_mapped()
{
    auto memory = Allocation::one_address(device::gpus(), bytes);
    CHECK(memory.space() == Space::managed);
    with_both_gpus(memory);
}

void on_machines_without_mapped_memory()
{
    CHECK(pass_elsewhere("PTSCHED_VGPU_VMM=0", "unmapped"));
    CHECK(pass_elsewhere("PTSCHED_VGPU_PEERS=0", "unmapped"));
}

/* What is not the pool's makes room, too, and counts. */
void mapped_memory_makes_room()
{
    Limit limit(gpu(), 256 * kilo);
    Adder adder(gpu());
    auto a = filled(1, 128 * kilo), sum = adder.add(a, a);
    adder.finish();
    CHECK(!a->missing(gpu()) && !sum->missing(gpu()));
    {
        auto memory = Allocation::one_address(device::gpus(), 128 * kilo);
        CHECK(a->missing(gpu()) > 0 && !sum->missing(gpu()));
        CHECK(refused([&] { adder.add(a, a); }, {"no memory"}));
        CHECK(refused([&] { Allocation::one_address(device::gpus(), 512 * kilo); }, {gpu().name(), "no memory"}));
    }
    CHECK(holds(*adder.add(sum, sum), 4));
}

/* Memory comes in pieces, which are one range to copies and kernels. */
void addresses_get_memory()
{
    InPlace work(gpu());
    auto range = device::Addresses::reserve(device::gpus(), 1);
    const std::size_t unit = range->unit();
    CHECK(range->bytes() == unit && range->begin() % unit == 0);
    range = device::Addresses::reserve(device::gpus(), 3 * unit - 1);
    CHECK(range->bytes() == 3 * unit);
    range->make(2 * unit, unit);
    range->make(unit, unit);
    const std::vector<float> ones(2 * count, 1);
    std::vector<float> back(2 * count);
    const device::Address middle = range->begin() + 2 * unit - bytes;
    work.queue->upload(middle, ones.data(), 2 * bytes);
    work.add(middle + bytes / 2, middle + bytes / 2);
    work.queue->download(back.data(), middle, 2 * bytes);
    work.queue->finish();
    CHECK(back[count / 2 - 1] == 1 && back[count / 2] == 2 && back[count] == 2 && back[2 * count - 1] == 1);
    CHECK(refused([&] { range->make(unit / 2, unit); }, {"multiples of " + std::to_string(unit)}));
    CHECK(refused([&] { range->make(2 * unit, 2 * unit); }, {std::to_string(3 * unit)}));
    device::Device *with_host[] = {&gpu(), &device::host()};
    CHECK(refused([&] { device::Addresses::reserve(with_host, unit); }, {"GPUs of CUDA"}));
}

/* It counts as the device's, and goes with the range. */
void memory_at_addresses_makes_room()
{
    Limit limit(gpu(), 256 * kilo);
    auto range = device::Addresses::reserve(device::gpus(), 512 * kilo);
    range->make(0, 192 * kilo);
    CHECK(refused([&] { range->make(192 * kilo, 128 * kilo); }, {gpu().name(), "no memory"}));
    range->make(192 * kilo, 64 * kilo);
    range.reset();
    range = device::Addresses::reserve(device::gpus(), 512 * kilo);
    range->make(256 * kilo, 256 * kilo);
    CHECK(range->begin() != 0);
}

void hints_are_harmless()
{
    InPlace work(gpu());
    auto memory = Allocation::managed(gpu(), bytes), other = Allocation::pinned(bytes);
    for (Advice advice : {Advice::read_mostly, Advice::preferred_location, Advice::accessed_by})
        for (device::Device *one : {&gpu(), &device::host()}) {
            memory.advise(advice, *one);
            memory.withdraw(advice, *one);
            other.advise(advice, *one);
        }
    fill(memory, 1);
    memory.prefetch(gpu(), *work.queue);
    other.prefetch(gpu(), *work.queue);
    work.add(memory.address(), memory.address());
    memory.prefetch(device::host(), *work.queue);
    work.queue->finish();
    CHECK(all_are(memory.host_address(), 2));
    auto queue = device::host().make_queue();
    CHECK(refused([&] { memory.prefetch(gpu(), *queue); }, {"queue", "GPU"}));
}

void old_drivers_say_what_they_lack()
{
    device::Device *pair[] = {&bare_gpu(), device::gpus().at(1)};
    CHECK(refused([] { Allocation::managed(bare_gpu(), bytes); }, {"managed memory", "cuMemAllocManaged"}));
    CHECK(refused([&] { Allocation::one_address(pair, bytes); },
                  {"one address", "cuMemAddressReserve", "cuMemAllocManaged"}));
    CHECK(refused([] { Allocation::managed(device::host(), bytes); }, {"host", "managed memory"}));
}

void of_a_host_alone()
{
    device::Device *only[] = {&device::host()};
    std::vector<float> own(count, 1);
    CHECK(device::gpus().empty());
    auto pinned = Allocation::pinned(bytes), same = Allocation::one_address(only, bytes);
    auto registered = Allocation::registered(own.data(), bytes);
    fill(pinned, 2);
    CHECK(all_are(pinned.host_address(), 2));
    CHECK(same.space() == Space::pinned && pinned.reached_by(device::host()));
    CHECK(registered.host_address() == own.data() && registered.space() == Space::registered);
    CHECK(refused([] { Allocation::managed(device::host(), bytes); }, {"managed memory"}));
}

void on_machines_without_a_gpu()
{
    CHECK(pass_elsewhere("PTSCHED_VGPU_SOCKET=/nowhere", "host"));
}

} // namespace

std::vector<tap::Case> test::space_cases()
{
    return {{"memory that both sides reach", what_both_sides_reach},
            {"memory of a device", what_is_a_devices},
            {"memory goes back to the pool of all", pools_are_everybodys},
            {"memory is moved, and is none before", empty_ones},
            {"memory of the host is registered once", registered_once},
            {"copies across what was registered", across_registrations},
            {"one address for two GPUs", one_address_for_two},
            {"one address for GPUs and the host", one_address_with_the_host},
            {"one address for one", one_address_for_one},
            {"one address where none can be mapped", on_machines_without_mapped_memory},
            {"mapped memory makes room, and counts", mapped_memory_makes_room},
            {"addresses get memory by and by", addresses_get_memory},
            {"memory at addresses makes room", memory_at_addresses_makes_room},
            {"hints change no content", hints_are_harmless},
            {"memory that a driver has not", old_drivers_say_what_they_lack},
            {"memory without a GPU", on_machines_without_a_gpu}};
}

std::vector<tap::Case> test::unmapped_cases()
{
    return {{"one address is managed", not_mapped}};
}

std::vector<tap::Case> test::host_cases()
{
    return {{"memory of a host alone", of_a_host_alone}};
}
