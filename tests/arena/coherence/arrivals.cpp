// SPDX-License-Identifier: MIT
/* What the host has taken, and what comes while it goes on. */
#include "tests/arena/coherence/cases.hpp"
#include "tests/comes_true.hpp"
#include "tests/threads.h"

#include <csignal>
#include <fcntl.h>
#include <sys/wait.h>

using namespace test;
using arena::PageRun;
using arena::Party;

namespace {

constexpr std::size_t page_count = 512, large_page = 32, in_flight = 4;

/* GPUs have written each page, and the host has taken them before any work of GPUs ends. */
class Taken : public Bench {
public:
    Taken() : Bench(page_count, Party::gpus, {.most_at_once = 0})
    {
        for (unsigned page = 0; page < page_count; page++)
            kernel(page) = page + 1;
        others_.emplace(); /* before the test has threads of its own */
        const std::vector<arena::Stretch> all{{0, page_count * page_bytes}};
        side->holds = true;
        coherence.take_ownership(region, Party::host, all);
    }
    ~Taken() { side->let_end(); }

    unsigned wrong()
    {
        unsigned count = 0;
        for (unsigned page = 0; page < page_count; page++)
            count += host(page) != page + 1;
        return count;
    }
    /* The helper waits for the first of so many copies. */
    void until_held()
    {
        CHECK(comes_true([&] { return side->counts.fetches == in_flight; }));
        CHECK(others_->until_asleep());
    }

private:
    std::optional<OtherThreads> others_;
};

void host_goes_on()
{
    Taken taken;
    CHECK(taken.coherence.owner(taken.region) == Party::host);
    CHECK_EQ(taken.coherence.state().to_host, std::uint64_t{0});
    taken.side->let_end();
    CHECK_EQ(taken.wrong(), 0U);
    CHECK_EQ(taken.coherence.state().to_host, std::uint64_t{page_count});
}

/* Runs a function in a thread, and returns when it waits for something. */
class Waiting {
public:
    explicit Waiting(std::function<void()> function)
        : thread_([this, function = std::move(function)] {
              id_ = gettid();
              function();
          })
    {
        CHECK(comes_true([&] { return id_ != 0; }));
        ThreadState state(id_);
        CHECK(comes_true([&] { return state.get() == 'S'; }));
    }
    ~Waiting() { thread_.join(); }
    Waiting(const Waiting &) = delete;
    Waiting &operator=(const Waiting &) = delete;

private:
    std::atomic<pid_t> id_{0};
    std::thread thread_;
};

/* Then what is behind it. */
void what_is_touched_comes_first()
{
    Taken taken;
    taken.until_held();
    std::uint32_t found = 0;
    {
        const Waiting toucher([&] { found = taken.host(300); });
        taken.side->let_end();
    }
    CHECK_EQ(found, 301U);
    CHECK_EQ(taken.wrong(), 0U);
    const std::vector<PageRun> fetched = taken.side->fetched(), next{{300, 20}, {320, large_page}, {352, large_page}};
    CHECK(fetched.size() > in_flight + next.size());
    for (std::size_t i = 0; i < in_flight; i++)
        CHECK((fetched.at(i) == PageRun{i * large_page, large_page}));
    CHECK(std::equal(next.begin(), next.end(), fetched.begin() + in_flight));
}

/* What has not come by then stays where it is. */
void taken_back_early()
{
    Taken taken;
    taken.until_held();
    taken.side->let_end();
    taken.host(page_count - 1) = 1000;
    taken.coherence.take_ownership(taken.region, Party::gpus);
    unsigned wrong = 0;
    for (unsigned page = 0; page < page_count; page++)
        wrong += taken.kernel(page) != (page == page_count - 1 ? 1000 : page + 1);
    CHECK_EQ(wrong, 0U);
    taken.kernel(7) = 70;
    taken.coherence.take_ownership(taken.region, Party::host);
    CHECK_EQ(std::uint32_t{taken.host(7)}, 70U);
    CHECK_EQ(std::uint32_t{taken.host(page_count - 1)}, 1000U);
}

void given_up_early()
{
    Taken taken;
    taken.side->let_end();
    taken.coherence.give_up(taken.region);
    CHECK(!taken.coherence.owner(taken.region));
    taken.coherence.access(taken.region, Party::gpus);
    taken.kernel(3) = 30;
    CHECK_EQ(taken.wrong(), 0U);
    taken.coherence.release(taken.region, Party::gpus);
    taken.coherence.acquire(taken.region, Party::host);
    CHECK_EQ(std::uint32_t{taken.host(3)}, 30U);
}

/* What is opened for the kernel is there. */
void opened_early()
{
    Taken taken;
    taken.side->let_end();
    taken.coherence.open(taken.region, {10 * page_bytes, 200 * page_bytes}, false);
    const std::uint64_t faults = taken.coherence.state().read_faults;
    for (unsigned page = 10; page < 210; page++)
        CHECK_EQ(std::uint32_t{taken.host(page)}, page + 1);
    CHECK_EQ(taken.coherence.state().read_faults, faults);
    CHECK_EQ(taken.wrong(), 0U);
}

void threads_touch_it()
{
    Taken taken;
    taken.side->let_end();
    std::vector<std::thread> threads;
    std::atomic<unsigned> wrong{0};
    for (unsigned part = 0; part < 8; part++)
        threads.emplace_back([&, part] {
            for (unsigned page = part * page_count / 8; page < (part + 1) * page_count / 8; page++) {
                wrong += taken.host(page) != page + 1;
                taken.host(page) = page;
            }
        });
    for (std::thread &thread : threads)
        thread.join();
    CHECK_EQ(wrong.load(), 0U);
}

/* It goes while copies are on their way. */
void it_goes()
{
    Taken taken;
    taken.until_held();
    {
        const Waiting remover([&] { taken.coherence.remove(taken.region); });
        taken.side->let_end();
    }
    CHECK_EQ(taken.coherence.state().to_host, std::uint64_t{in_flight * large_page});
}

/* Who touches it is told, as of memory that is not there. */
void a_gpu_fails_late()
{
    const pid_t child = fork();
    if (child == 0) {
        const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
        dup2(nowhere, STDERR_FILENO);
        signal(SIGSEGV, [](int) { _exit(7); });
        Taken taken;
        taken.until_held();
        taken.side->fails = true;
        taken.side->let_end();
        static_cast<void>(std::uint32_t{taken.host(100)});
        _exit(1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

} // namespace

std::vector<tap::Case> test::arrival_cases()
{
    return {{"arrivals: the host goes on before all has come", host_goes_on},
            {"arrivals: what is touched comes first", what_is_touched_comes_first},
            {"arrivals: taken back by GPUs", taken_back_early},
            {"arrivals: given up", given_up_early},
            {"arrivals: what is opened has come", opened_early},
            {"arrivals: of several threads", threads_touch_it},
            {"arrivals: a region goes", it_goes},
            {"arrivals: a GPU fails", a_gpu_fails_late}};
}
