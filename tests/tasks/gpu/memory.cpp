// SPDX-License-Identifier: MIT
/* Memory of arrays by its kind, of devices when it is full, and what is known of ranges that nobody uses. */
#include "libptsched/device/cuda.hpp"
#include "libptsched/tasks/gpu/directory.hpp"
#include "tests/tasks/gpu/cases.hpp"

using namespace test;
using tasks::in, tasks::inout, tasks::out, tasks::Memory;

namespace {

/* Of floats, from a runtime. */
class Array {
public:
    Array(Core &core, std::size_t size, Memory memory, float value)
        : core_(core), all_(static_cast<float *>(core.side().allocate(size * sizeof(float), memory)), size)
    {
        std::fill(all_.begin(), all_.end(), value);
    }
    ~Array() { core_.side().release(all_.data()); }
    Array(const Array &) = delete;
    Array &operator=(const Array &) = delete;

    std::span<float> all() const { return all_; }

private:
    Core &core_;
    std::span<float> all_;
};

void arrays_of_each_kind()
{
    for (const Memory memory : {Memory::copied, Memory::managed, Memory::prefetched}) {
        auto options = Core::first_gpu();
        options.memory = memory;
        Core core(options);
        Array x(core, 256, memory, 1), y(core, 256, memory, 2), z(core, 256, memory, 0);
        const void *there = nullptr;
        Node &sum = core.give({in(x.all()), in(y.all()), out(z.all())}, [&](const tasks::Call &call) {
            there = call.places[2].address;
            add_up()(call);
        });
        CHECK((there == z.all().data()) == (memory != Memory::copied));
        core.end(sum);
        core.host({in(z.all()), inout(x.all())});
        CHECK(all_are(z.all(), 3));
        std::fill(x.all().begin(), x.all().end(), 4.0F);
        core.give({in(x.all()), in(z.all()), inout(z.all())}, add_up());
        core.finish();
        CHECK(all_are(z.all(), 7));
        /* Plain managed memory is the driver's concern. */
        const std::size_t moved = memory == Memory::managed ? 0 : 256 * sizeof(float);
        CHECK_EQ(core.state().bytes_to_host, std::uint64_t{2 * moved});
        CHECK_EQ(core.state().bytes_to_devices, std::uint64_t{3 * moved});
    }
}

/* Only who asks for it by its range has it brought, and tasks of the host. */
void arrays_that_are_kept()
{
    for (const Memory memory : {Memory::copied, Memory::prefetched}) {
        auto options = Core::first_gpu();
        options.memory = memory;
        Core core(options);
        Array x(core, 256, memory, 1), y(core, 256, memory, 2), z(core, 256, memory, 0);
        constexpr std::uint64_t bytes = 256 * sizeof(float);
        Node &first = core.give({in(x.all()), in(y.all()), inout(y.all())}, add_up());
        core.side().keep_on_devices(y.all().data());
        core.side().keep_on_devices(z.all().data());
        CHECK(core.side().is_kept(in(y.all().first(2)).range));
        CHECK(!core.side().is_kept(in(x.all()).range));
        core.give({in(y.all()), in(y.all()), out(z.all())}, add_up(), {&first});
        core.finish();
        CHECK_EQ(core.state().bytes_to_host, std::uint64_t{0});
        core.give({in(x.all()), in(z.all()), inout(z.all())}, add_up());
        core.finish();
        CHECK_EQ(core.state().bytes_to_host, std::uint64_t{0});
        const tasks::Range range = in(z.all()).range;
        core.until([&] { return core.side().bring_home(&range); });
        CHECK_EQ(core.state().bytes_to_host, bytes);
        CHECK(all_are(z.all(), 7));
        core.host({in(y.all())});
        CHECK(all_are(y.all(), 3));
        CHECK_EQ(core.state().bytes_to_host, 2 * bytes);
    }
}

/* Parts of an array, and tiles whose rows are apart. */
void parts_are_prefetched()
{
    constexpr std::size_t n = 64;
    Core core;
    Array x(core, n * n, Memory::prefetched, 1);
    const tasks::Tile<float> all{x.all().data(), n, n, n}, corner = all.part(n / 2, n / 2, n / 2, n / 2);
    std::size_t pitch = 1;
    Node &half = core.give({inout(x.all().first(n * n / 2)), inout(x.all().first(n * n / 2))}, add_up());
    core.end(core.give({inout(corner)}, [&](const tasks::Call &call) { pitch = call.places[0].pitch; }, {&half}));
    CHECK_EQ(pitch, std::size_t{0});
    core.host({in(x.all())});
    CHECK(all_are(x.all().first(n * n / 2), 2));
    CHECK(all_are(x.all().last(n * n / 2), 1));
}

/* A driver that has none. */
void managed_memory_is_refused()
{
    static device::Driver driver = *device::Driver::get();
    driver.managed_alloc = nullptr;
    static device::Device &bare = *new device::CudaDevice(driver, 0);
    tasks::Options options;
    options.devices = {&bare};
    options.memory = Memory::prefetched;
    CHECK(refused([&] { Core core(options); }, {"prefetched", "managed memory", "Memory::copied would do"}));
    options.memory = Memory::copied;
    Core core(options);
    CHECK(refused([&] { core.side().allocate(16, Memory::managed); }, {"managed", "Memory::copied would do"}));
    Array x(core, 256, Memory::copied, 1);
    core.give({inout(x.all()), inout(x.all())}, add_up());
    core.finish();
    CHECK(all_are(x.all(), 2));
}

void devices_are_named_rightly()
{
    tasks::Options options = Core::first_gpu();
    options.devices.push_back(options.devices.front());
    CHECK(refused([&] { Core core(options); }, {"Options::devices", "twice"}));
    options.devices = {nullptr};
    CHECK(refused([&] { Core core(options); }, {"Options::devices", "null"}));
    options.devices = {&device::host()};
    CHECK(refused([&] { Core core(options); }, {"no streams of CUDA"}));
    options.devices.clear();
    Core *nobody = nullptr;
    struct Nobody final : tasks::GpuListener {
        void given(tasks::Task &) override {}
        void ended(tasks::Task &, std::exception_ptr) override {}
        void release(tasks::Task &) override {}
        void is_home(tasks::Task &, std::exception_ptr) override {}
        void wake() override {}
        tasks::Trace *trace() override { return nullptr; }
    } listener;
    CHECK(!nobody && !tasks::GpuSide::make(options, listener));
}

/* Three times as much as the device has, written twice: it comes home to make room, and back. */
void more_than_the_device_has()
{
    constexpr std::size_t size = gpu_memory / 8 / sizeof(float), count = 24;
    Core core;
    std::vector<std::vector<float>> all;
    std::vector<std::vector<Node *>> last(count);
    for (std::size_t i = 0; i < count; i++)
        all.emplace_back(size, static_cast<float>(i));
    for (unsigned round = 0; round < 2; round++)
        for (std::size_t i = 0; i < count; i++)
            last[i] = {&core.give({inout(all[i]), inout(all[i])}, add_up(), last[i])};
    core.finish();
    for (std::size_t i = 0; i < count; i++) {
        CHECK(!last[i][0]->failure);
        CHECK(all_are(all[i], static_cast<float>(4 * i)));
    }
}

/* One task alone needs more than there is: it fails, and others run. */
void more_than_there_is_for_one()
{
    Core core;
    std::vector<float> x(gpu_memory / sizeof(float) * 2, 1), y(64, 1);
    Node &large = core.give({inout(x)}, nothing);
    core.end(large);
    CHECK(!large.given);
    bool is_memory = false;
    try {
        std::rethrow_exception(large.failure);
    } catch (const device::OutOfMemory &) {
        is_memory = true;
    }
    CHECK(is_memory);
    core.give({inout(y), inout(y)}, add_up());
    core.finish();
    CHECK(all_are(y, 2));
}

/* Ever new ranges: what is known of old ones goes. */
void ranges_are_forgotten()
{
    constexpr std::size_t count = 20000;
    tasks::Arrays arrays({device::gpus().at(0)});
    tasks::Directory directory(arrays, {});
    const tasks::Estimate now = 0;
    tasks::Stream stream(device::gpus().at(0)->make_queue(), 0, 1, now);
    const tasks::Site site{device::gpus().at(0), 0, device::gpus().at(0)->make_queue()};
    directory.add_device(*site.device);
    directory.add_stream(stream);
    std::vector<char> memory(count);
    tasks::Uses uses;
    for (std::size_t i = 0; i < count; i++) {
        tasks::Task task;
        task.own_accesses[0] = in(&memory[i], 1);
        task.access_count = 1;
        directory.use(task, site, stream, uses);
        CHECK_EQ(uses.items.size(), std::size_t{1});
        directory.collect();
    }
    CHECK(directory.size() <= 2048);
    CHECK(directory.bring_home(nullptr, true));
    directory.forget(in(memory).range);
    CHECK_EQ(directory.size(), std::size_t{0});
}

} // namespace

std::vector<tap::Case> test::memory_cases()
{
    return {{"arrays in memory of each kind", arrays_of_each_kind},
            {"arrays that are kept on devices", arrays_that_are_kept},
            {"parts of arrays are prefetched", parts_are_prefetched},
            {"managed memory where there is none", managed_memory_is_refused},
            {"devices that cannot be used", devices_are_named_rightly},
            {"more than the device has room for", more_than_the_device_has},
            {"one task that needs more than there is", more_than_there_is_for_one},
            {"ranges that nobody uses are forgotten", ranges_are_forgotten}};
}
