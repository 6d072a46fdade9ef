// SPDX-License-Identifier: MIT
/*
 * Random sets of tasks leave in memory what they leave one after another. PTSCHED_RANDOM_SETS says how many (of each
 * case), PTSCHED_RANDOM_SEED which is the first; each set has a seed of its own, which is printed if it is wrong.
 */
#include "libptsched/tasks/gpu/ahead.hpp"
#include "tests/tasks/cases.hpp"
#include "tests/tasks/work.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

using namespace test;

namespace {

using tasks::Core;

/* Far more than any set takes: what has not ended then never will. */
constexpr std::chrono::seconds longest{60};
constexpr char stuck[] = "tasks wait for ever";

std::uint64_t number_from(const char *variable, std::uint64_t otherwise)
{
    const char *const text = std::getenv(variable);
    return text ? std::strtoull(text, nullptr, 0) : otherwise;
}

struct Where {
    unsigned gpus = 0;
    bool check = false; /* what tasks use and have not declared is looked for: there is none */
};

/* One set, as it runs. */
class Run {
public:
    Run(Core &core, unsigned char *block) : core_(core), block_(block) {}

    /* False if somebody who waited for a range found something else, or nothing ends any more. */
    bool run(const Set &set, const Expected &expected);

private:
    /* What a task's function is. */
    struct Closure {
        Run *run;
        const Work *work;

        static void move(void *to, void *from) { new (to) Closure(*static_cast<Closure *>(from)); }
        static void destroy(void *) noexcept {}
        static void on_host(void *self, const tasks::Call &call)
        {
            const Closure &closure = *static_cast<Closure *>(self);
            closure.run->on_host(*closure.work, call);
        }
        static void on_gpu(void *self, const tasks::Call &call);
    };

    void add(const Work &work);
    void on_host(const Work &work, const tasks::Call &call);

    Core &core_;
    unsigned char *const block_;
    std::atomic<bool> stuck_{false};
};

Fold fold_of(const Work &work, const tasks::Call &call)
{
    return test::fold_of(
        work, [&](unsigned i) { return std::pair<void *, std::size_t>(call.places[i].address, call.places[i].pitch); });
}

void Run::Closure::on_gpu(void *self, const tasks::Call &call)
{
    static const tasks::Kernel kernel(
        [](device::Device &gpu) { return device::cuda_code(gpu, folder() + "/tasks-fold.so", "fold"); });
    Fold fold = fold_of(*static_cast<Closure *>(self)->work, call);
    kernel.run(tasks::Gpu(call), {}, {&fold});
}

void Run::on_host(const Work &work, const tasks::Call &call)
{
    unsigned char old[FOLD_MOST_BYTES];
    const Fold fold = fold_of(work, call);
    const auto pause = [&] {
        if (work.seed % 8 == 0)
            std::this_thread::yield();
    };

    fold_writes(&fold, fold_reads(&fold), old, pause);
    for (const Work &inner : work.inside)
        add(inner);
    if (!work.comes_back)
        return;
    if (!core_.wait(longest))
        stuck_ = true;
    fold_writes(&fold, fold_reads(&fold), old, pause);
}

void Run::add(const Work &work)
{
    using Function = tasks::Function;
    static constexpr Function functions[] = {
        {sizeof(Closure), alignof(Closure), Closure::move, Closure::destroy, Closure::on_host, nullptr},
        {sizeof(Closure), alignof(Closure), Closure::move, Closure::destroy, nullptr, Closure::on_gpu},
        {sizeof(Closure), alignof(Closure), Closure::move, Closure::destroy, Closure::on_host, Closure::on_gpu}};
    std::vector<tasks::Access> accesses;
    for (const Part &part : work.parts)
        accesses.push_back(part.access(reinterpret_cast<std::byte *>(block_)));
    Closure closure{this, &work};
    core_.add({"random", work.priority, work.device}, functions[static_cast<unsigned>(work.on)], &closure, accesses);
}

bool Run::run(const Set &set, const Expected &expected)
{
    bool right = true;
    std::size_t next = 0;
    for (const Work &work : set.works) {
        if (work.kind == Work::Kind::task) {
            add(work);
        } else if (work.kind == Work::Kind::wait) {
            stuck_ = stuck_ || !core_.wait(longest);
        } else {
            const Part &part = work.parts.front();
            stuck_ = stuck_ || !core_.wait(part.access(reinterpret_cast<std::byte *>(block_)).range, longest);
            right = right && content_of(part, block_) == expected.seen[next];
            next++;
        }
    }
    stuck_ = stuck_ || !core_.wait(longest);
    if (stuck_)
        throw std::runtime_error(stuck);
    return right && std::equal(expected.block.begin(), expected.block.end(), block_);
}

tasks::Options options_for(Random &random, const Where &where)
{
    tasks::Options options;
    options.workers = 1 + static_cast<unsigned>(random() % 4);
    options.streams = 1 + static_cast<unsigned>(random() % 3);
    options.check = where.check;
    for (unsigned i = 0; i < where.gpus; i++)
        options.devices.push_back(device::gpus().at(i));
    return options;
}

/* A set with its memory: what has failed may still use them, and its runtime cannot be destroyed. */
struct Trial {
    Trial(Set of, Bytes first, std::shared_ptr<Core> by)
        : set(std::move(of)), begin(std::move(first)), core(std::move(by))
    {
    }

    Set set;
    Bytes begin, block;
    std::shared_ptr<Core> core;
};

/* Empty if the set has left in memory what it leaves when it runs in order, or else why not. */
std::string what_is_wrong(std::unique_ptr<Trial> trial)
{
    const Expected expected = run_in_order(trial->set, trial->begin);
    trial->block = trial->begin;
    try {
        if (!Run(*trial->core, trial->block.data()).run(trial->set, expected))
            return "memory is not what it is to be";
        return {};
    } catch (const std::exception &error) {
        static std::vector<std::unique_ptr<Trial>> failed;
        failed.push_back(std::move(trial));
        return error.what();
    }
}

/* Prints what is left of a set that was wrong when all is gone without which it is wrong, too. */
void print_least(Set set, const Bytes &begin, Random random, const Where &where)
{
    constexpr int tries = 20;
    const auto is_wrong = [&](const Set &one) {
        for (int i = 0; i < tries; i++)
            if (!what_is_wrong(std::make_unique<Trial>(one, begin, Core::make(options_for(random, where)))).empty())
                return true;
        return false;
    };
    for (bool goes_on = true; goes_on;) {
        goes_on = false;
        for (Set &less : smaller(set))
            if (is_wrong(less)) {
                set = std::move(less);
                goes_on = true;
                break;
            }
    }
    std::printf("# the least that is wrong as well:\n%s", describe(set).c_str());
}

/* A runtime for so many; and after so many, those that wait are told. */
constexpr std::uint64_t sets_of_runtime = 64, sets_of_line = 100000;

void random_sets(std::uint64_t count, const Where &where)
{
    const std::uint64_t first = number_from("PTSCHED_RANDOM_SEED", std::random_device()());
    const std::uint64_t wanted = number_from("PTSCHED_RANDOM_SETS", count);
    std::printf("# %llu sets from seed %llu on\n", static_cast<unsigned long long>(wanted),
                static_cast<unsigned long long>(first));
    std::shared_ptr<Core> core;
    /* However little it is, it is brought ahead. */
    tasks::Ahead::worth_a_copy = 1;
    for (std::uint64_t i = 0; i < wanted; i++) {
        Random random(first + i);
        if (i % sets_of_runtime == 0)
            core = Core::make(options_for(random, where));
        if (i && i % sets_of_line == 0)
            std::printf("# %llu sets\n", static_cast<unsigned long long>(i));
        const Set set = make_set(random, where.gpus);
        const Bytes begin = random_bytes(random, set.bytes);
        const std::string wrong = what_is_wrong(std::make_unique<Trial>(set, begin, core));
        if (!CHECK(wrong.empty())) {
            std::printf("# seed %llu: %s\n%s", static_cast<unsigned long long>(first + i), wrong.c_str(),
                        describe(set).c_str());
            /* To try again takes as long. */
            if (wrong != stuck)
                print_least(set, begin, random, where);
            return;
        }
    }
    CHECK_EQ(core ? core->state().live : std::size_t{0}, std::size_t{0});
}

} // namespace

std::vector<tap::Case> test::random_cases()
{
    return {
        {"random sets of tasks on the host", [] { random_sets(3000, {}); }},
        {"random sets of tasks on a GPU", [] { random_sets(60, {.gpus = 1}); }},
        {"random sets of tasks on two GPUs", [] { random_sets(60, {.gpus = 2}); }},
        {"random sets of tasks, each of them checked", [] { random_sets(60, {.gpus = 1, .check = true}); }},
    };
}
