// SPDX-License-Identifier: MIT
/*
 * Random programs find what release consistency allows. PTSCHED_RANDOM_PROGRAMS says how many (of each case),
 * PTSCHED_RANDOM_SEED which is the first; each has a seed of its own, which is printed if it is wrong.
 */
#include "tests/arena/coherence/cases.hpp"
#include "tests/arena/coherence/program.hpp"
#include "tests/sanitizers.h"

#include <algorithm>

using namespace test;

namespace {

std::uint64_t number_from(const char *variable, std::uint64_t otherwise)
{
    const char *const text = std::getenv(variable);
    return text ? std::strtoull(text, nullptr, 0) : otherwise;
}

/* A window in which programs run, one after another. */
struct World {
    World(bool is_checked, device::Device *gpu, std::size_t most_at_once)
        : checked(is_checked), memories(Layout::pages, gpu),
          coherence(memories, {.checked = is_checked, .most_at_once = most_at_once},
                    gpu ? arena::make_gpu_side(memories) : std::make_unique<FakeGpuSide>(memories))
    {
    }

    const bool checked;
    FakeMemories memories;
    arena::Coherence coherence;
};

/* A program, as it runs, with what it should find. */
class Run {
public:
    explicit Run(World &world) : world_(world)
    {
        for (unsigned region = 0; region < regions; region++) {
            regions_[region] = &world.coherence.add({});
            for (const arena::Stretch &stretch : Layout::stretches(region))
                world.coherence.grow(*regions_[region], stretch);
            world.coherence.access(*regions_[region], Party::gpus);
        }
    }
    ~Run()
    {
        for (arena::Region *region : regions_)
            world_.coherence.remove(*region);
        for (const std::size_t offset : written_)
            world_.memories.home(offset) = 0;
    }
    Run(const Run &) = delete;
    Run &operator=(const Run &) = delete;

    /* Empty, or what is wrong. */
    std::string run(const Program &program)
    {
        for (const Op &op : program)
            step(op);
        if (wrong_.empty())
            end();
        return wrong_;
    }

private:
    void step(const Op &op);
    void write(const Op &op, unsigned word);
    void read(Party party, unsigned region, unsigned word);
    void end();
    void use(Party party, unsigned region);
    volatile std::uint32_t &at(Party party, std::size_t offset)
    {
        return party == Party::host ? world_.memories.host(offset) : world_.memories.kernel(offset);
    }

    World &world_;
    arena::Region *regions_[regions];
    Model models_[regions];
    std::vector<arena::Stretch> declared_[regions]; /* what the GPU has written since it was found out */
    std::vector<std::size_t> written_;
    std::uint32_t value_ = 0;
    std::string wrong_;
};

/* What a launch does for a kernel; the host does it by a fault. */
void Run::use(Party party, unsigned region)
{
    const std::optional<Party> owner = models_[region].owner();
    if (owner && *owner != party && party == Party::gpus)
        world_.coherence.access(*regions_[region], party);
    if (owner && *owner != party)
        declared_[region].clear();
    models_[region].use(party);
}

void Run::write(const Op &op, unsigned word)
{
    Model &model = models_[op.region];
    if (world_.checked && model.would_race(op.party, word))
        return;
    const std::size_t offset = Layout::offset(op.region, word);
    at(op.party, offset) = ++value_;
    model.write(op.party, word, value_);
    written_.push_back(offset);
    if (op.party == Party::gpus)
        declared_[op.region].push_back({offset, 4});
}

void Run::read(Party party, unsigned region, unsigned word)
{
    const std::size_t offset = Layout::offset(region, word);
    const std::uint32_t found = at(party, offset);
    if (wrong_.empty() && !models_[region].allows(party, word, found))
        wrong_ = std::string(party == Party::host ? "the host" : "the GPU") + " finds " + std::to_string(found) +
                 " at " + std::to_string(offset);
}

void Run::step(const Op &op)
{
    using Kind = Op::Kind;
    arena::Coherence &coherence = world_.coherence;
    arena::Region &region = *regions_[op.region];
    Model &model = models_[op.region];
    const std::span<const arena::Stretch> declared = declared_[op.region];

    switch (op.kind) {
    case Kind::read:
        use(op.party, op.region);
        return read(op.party, op.region, op.word);
    case Kind::write:
        use(op.party, op.region);
        return write(op, op.word);
    case Kind::sweep:
        use(op.party, op.region);
        for (unsigned word = op.word; word < Layout::words(op.region); word += Layout::words_of_page)
            write(op, word);
        return;
    case Kind::acquire:
        coherence.acquire(region, op.party);
        return model.acquire(op.party);
    case Kind::release:
        coherence.release(region, op.party);
        model.release(op.party);
        break;
    case Kind::release_declared:
        coherence.release(region, Party::gpus, declared);
        model.release(Party::gpus);
        break;
    case Kind::access:
        coherence.access(region, op.party);
        model.access(op.party);
        return;
    case Kind::take:
    case Kind::take_declared:
        coherence.take_ownership(region, op.party,
                                 op.kind == Kind::take ? arena::Declared() : arena::Declared(declared));
        model.take(op.party);
        break;
    case Kind::give_up:
        coherence.give_up(region);
        model.give_up();
        break;
    case Kind::open:
        use(Party::host, op.region);
        coherence.open(region, {Layout::offset(op.region, op.word), (1 + op.word % 3) * page_bytes}, op.word % 2);
        return;
    }
    /* Declared once more, what was found out does no harm. */
    if (op.party == Party::gpus && !model.owner() && op.kind != Kind::give_up)
        declared_[op.region].clear();
}

/* When both have released and acquired, they find the same. */
void Run::end()
{
    for (unsigned region = 0; region < regions; region++) {
        world_.coherence.give_up(*regions_[region]);
        models_[region].give_up();
        for (const Party party : {Party::host, Party::gpus}) {
            world_.coherence.release(*regions_[region], party);
            models_[region].release(party);
        }
        for (const Party party : {Party::host, Party::gpus}) {
            world_.coherence.acquire(*regions_[region], party);
            models_[region].acquire(party);
        }
        for (unsigned word = 0; word < Layout::words(region); word++) {
            read(Party::host, region, word);
            read(Party::gpus, region, word);
            const std::size_t offset = Layout::offset(region, word);
            if (wrong_.empty() && at(Party::host, offset) != at(Party::gpus, offset))
                wrong_ = "the two sides do not find the same at " + std::to_string(offset);
        }
    }
}

std::string what_is_wrong(World &world, const Program &program)
{
    try {
        return Run(world).run(program);
    } catch (const ptsched::Error &error) {
        return error.what();
    }
}

/* Without all that it takes not to be wrong. */
Program least(World &world, Program program)
{
    for (bool goes_on = true; goes_on;) {
        goes_on = false;
        for (Program &less : smaller(program))
            if (!what_is_wrong(world, less).empty()) {
                program = std::move(less);
                goes_on = true;
                break;
            }
    }
    return program;
}

/* Few random programs may have nothing to fault on; what no fault reaches would be tested by none of them. */
void check_that_faults_count(World &world)
{
    const std::uint64_t before = world.coherence.state().write_faults;
    const Op writes{.kind = Op::Kind::write, .party = Party::host, .region = 0, .word = 0};
    CHECK(what_is_wrong(world, {writes}).empty());
    CHECK_EQ(world.coherence.state().write_faults, before + 1);
}

void random_programs(std::uint64_t count, bool checked, bool on_gpu, std::size_t most_at_once = ~std::size_t{0})
{
    constexpr std::uint64_t programs_of_line = 10000;
    const std::uint64_t first = number_from("PTSCHED_RANDOM_SEED", std::random_device()());
    const std::uint64_t wanted = number_from("PTSCHED_RANDOM_PROGRAMS", count);
    std::printf("# %llu programs from seed %llu on\n", static_cast<unsigned long long>(wanted),
                static_cast<unsigned long long>(first));
    World world(checked, on_gpu ? device::gpus().at(0) : nullptr, most_at_once);
    for (std::uint64_t i = 0; i < wanted; i++) {
        Random random(first + i);
        if (i && i % programs_of_line == 0)
            std::printf("# %llu programs\n", static_cast<unsigned long long>(i));
        const Program program = make_program(random);
        const std::string wrong = what_is_wrong(world, program);
        if (CHECK(wrong.empty()))
            continue;
        std::printf("# seed %llu: %s\n# the least that is wrong as well:\n%s",
                    static_cast<unsigned long long>(first + i), wrong.c_str(), describe(least(world, program)).c_str());
        return;
    }
    check_that_faults_count(world);
}

#ifdef PTSCHED_TEST_SANITIZED
constexpr std::uint64_t programs = 100, on_virtual_gpu = 5;
#else
constexpr std::uint64_t programs = 500, on_virtual_gpu = 50;
#endif

} // namespace

std::vector<tap::Case> test::random_cases()
{
    return {
        {"random programs", [] { random_programs(programs, false, false); }},
        {"random programs without races, which are looked for", [] { random_programs(programs, true, false); }},
        {"random programs where all comes while the host goes on", [] { random_programs(programs, false, false, 0); }},
        {"random programs without races where all comes while the host goes on",
         [] { random_programs(programs, true, false, 0); }},
        {"random programs on the virtual GPU where all comes while the host goes on",
         [] { random_programs(on_virtual_gpu, false, true, 0); }},
        {"random programs on the virtual GPU", [] { random_programs(on_virtual_gpu, false, true); }},
        {"random programs without races on the virtual GPU", [] { random_programs(on_virtual_gpu, true, true); }}};
}
