// SPDX-License-Identifier: MIT
#include "libptsched/base/bad_access.hpp"
#include "tests/arena/coherence/cases.hpp"

#include <atomic>
#include <csetjmp>
#include <csignal>
#include <fcntl.h>
#include <sys/mman.h>
#include <thread>

using namespace test;
using arena::Party;

namespace {

/* A page of the processor's, closed. */
class Closed {
public:
    Closed() : page_(mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {}
    ~Closed() { munmap(page_, bytes); }
    Closed(const Closed &) = delete;
    Closed &operator=(const Closed &) = delete;
    volatile std::uint32_t &word() const { return *static_cast<volatile std::uint32_t *>(page_); }
    bool open() const { return !mprotect(page_, bytes, PROT_READ | PROT_WRITE); }

private:
    static constexpr std::size_t bytes = 4096;
    void *const page_;
};

struct Opener {
    const Closed *closed;
    ptsched::BadAccess last{};
    int calls = 0;

    static bool open(void *self, const ptsched::BadAccess &access)
    {
        auto *const opener = static_cast<Opener *>(self);
        opener->calls++;
        opener->last = access;
        return access.address == reinterpret_cast<std::uintptr_t>(&opener->closed->word()) && opener->closed->open();
    }
};

void handlers_are_asked_in_turn()
{
    const Closed one, other;
    Opener first{&one}, second{&other};
    const ptsched::BadAccessHandler a(Opener::open, &first), b(Opener::open, &second);
    other.word() = 7;
    CHECK_EQ(second.calls, 1);
    CHECK(second.last.is_write);
    CHECK_EQ(std::uint32_t{one.word()}, 0U);
    CHECK(!first.last.is_write);
    CHECK_EQ(std::uint32_t{other.word()}, 7U);
}

sigjmp_buf back;
bool expects_one = false;
int earlier_calls;

void earlier(int)
{
    if (!expects_one)
        std::abort();
    earlier_calls++;
    siglongjmp(back, 1);
}

/* True if the access came to who handled the signal before. */
bool is_refused(volatile std::uint32_t &word)
{
    earlier_calls = 0;
    expects_one = true;
    if (!sigsetjmp(back, 1))
        word = 1;
    expects_one = false;
    return earlier_calls == 1;
}

void what_is_nobodys_goes_on()
{
    struct sigaction mine {
    }, before{};
    mine.sa_handler = earlier;
    mine.sa_flags = SA_NODEFER;
    sigaction(SIGSEGV, &mine, &before);
    {
        const Closed closed, other;
        Opener opener{&other};
        const ptsched::BadAccessHandler handler(Opener::open, &opener);
        CHECK(is_refused(closed.word()));
    }
    sigaction(SIGSEGV, &before, nullptr);
}

struct sigaction before_circle;
volatile int *passes;

void pass_back(int signal, siginfo_t *info, void *context)
{
    *passes = *passes + 1;
    if (*passes > 3)
        _exit(3);
    before_circle.sa_sigaction(signal, info, context);
}

/* Who came after us, and passes on to us, is passed to once. */
void no_circle()
{
    void *const common = mmap(nullptr, sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    passes = static_cast<volatile int *>(common);
    const Closed closed, other;
    Opener opener{&other};
    const ptsched::BadAccessHandler first(Opener::open, &opener);
    const pid_t child = fork();
    if (child == 0) {
        struct sigaction mine {};
        const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
        dup2(nowhere, STDERR_FILENO);
        mine.sa_sigaction = pass_back;
        mine.sa_flags = SA_SIGINFO | SA_NODEFER;
        sigaction(SIGSEGV, &mine, &before_circle);
        const ptsched::BadAccessHandler second(Opener::open, &opener);
        closed.word() = 1;
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    CHECK_EQ(int{*passes}, 1);
    CHECK(status != 0);
    munmap(common, sizeof(int));
}

void there_are_not_too_many()
{
    std::vector<std::unique_ptr<ptsched::BadAccessHandler>> all;
    const std::string error = error_of([&] {
        for (std::size_t i = 0; i <= ptsched::BadAccessHandler::most; i++)
            all.push_back(std::make_unique<ptsched::BadAccessHandler>(Opener::open, nullptr));
    });
    CHECK(contains(error, "handlers of accesses"));
    /* None of these is asked: no access is refused here. */
    all.clear();
}

void first_write_is_a_fault()
{
    Bench bench(4);
    bench.host(1) = 5;
    CHECK_EQ(bench.coherence.state().write_faults, std::uint64_t{1});
    bench.host(1) = 6;
    CHECK_EQ(bench.coherence.state().write_faults, std::uint64_t{1});
    CHECK_EQ(std::uint32_t{bench.host(1)}, 6U);
    bench.coherence.release(bench.region, Party::host);
    CHECK_EQ(std::uint32_t{bench.host(1)}, 6U);
    bench.host(1) = 7;
    CHECK_EQ(bench.coherence.state().write_faults, std::uint64_t{2});
    CHECK_EQ(bench.coherence.state().read_faults, std::uint64_t{0});
}

void few_faults_in_order()
{
    constexpr unsigned pages = 512, most = 14;
    Bench bench(pages);
    for (unsigned page = 0; page < pages; page++)
        bench.host(page) = page;
    CHECK(bench.coherence.state().write_faults <= most);
    bench.coherence.release(bench.region, Party::host);
    bench.coherence.access(bench.region, Party::gpus);
    for (unsigned page = 0; page < pages; page++)
        bench.kernel(page) = page + 1;
    bench.coherence.release(bench.region, Party::gpus);
    bench.coherence.acquire(bench.region, Party::host);
    unsigned wrong = 0;
    for (unsigned page = 0; page < pages; page++)
        wrong += bench.host(page) != page + 1;
    CHECK_EQ(wrong, 0U);
    CHECK(bench.coherence.state().read_faults <= most);
    CHECK_EQ(bench.side->counts.fetched_pages, pages);
    CHECK(bench.side->counts.fetches <= most);
}

/* All pages come, whoever of several threads asks first. */
void threads_fault_at_once()
{
    constexpr unsigned pages = 256, threads = 4;
    Bench bench(pages);
    bench.coherence.take_ownership(bench.region, Party::gpus);
    for (unsigned page = 0; page < pages; page++)
        bench.kernel(page) = page + 1;
    std::atomic<unsigned> wrong{0};
    std::vector<std::thread> all;
    for (unsigned thread = 0; thread < threads; thread++)
        all.emplace_back([&, thread] {
            for (unsigned page = thread % 2 ? 0 : pages - 1; page < pages; page += thread % 2 ? 1 : -1U) {
                wrong += bench.host(page) != page + 1;
                bench.memories.host(page * page_bytes + 64 * (1 + thread)) = thread + 1;
            }
        });
    for (std::thread &thread : all)
        thread.join();
    CHECK_EQ(wrong.load(), 0U);
    CHECK(!bench.coherence.owner(bench.region));
    bench.coherence.release(bench.region, Party::host);
    bench.coherence.acquire(bench.region, Party::gpus);
    for (unsigned page = 0; page < pages; page++)
        for (unsigned thread = 0; thread < threads; thread++)
            wrong += bench.memories.kernel(page * page_bytes + 64 * (1 + thread)) != thread + 1;
    CHECK_EQ(wrong.load(), 0U);
}

/* Others touch the pages while they are released again and again. */
void faults_beside_releases()
{
    constexpr unsigned pages = 16, rounds = 200;
    Bench bench(pages);
    bench.coherence.access(bench.region, Party::gpus);
    std::atomic<bool> over{false};
    std::thread other([&] {
        while (!over) {
            bench.coherence.release(bench.region, Party::host);
            bench.coherence.acquire(bench.region, Party::gpus);
        }
    });
    for (unsigned round = 1; round <= rounds; round++)
        for (unsigned page = 0; page < pages; page++)
            bench.host(page) = round;
    over = true;
    other.join();
    bench.coherence.release(bench.region, Party::host);
    bench.coherence.acquire(bench.region, Party::gpus);
    for (unsigned page = 0; page < pages; page++)
        CHECK_EQ(std::uint32_t{bench.kernel(page)}, rounds);
}

/* Of a page that no arena has, and after its arena went. */
void pages_of_nobody()
{
    struct sigaction mine {
    }, before{};
    Bench bench(4);
    bench.host(1) = 1;
    mine.sa_handler = earlier;
    mine.sa_flags = SA_NODEFER;
    sigaction(SIGSEGV, &mine, &before);
    {
        /* In between there is who handles it first. */
        const Closed closed;
        Opener opener{&closed};
        const ptsched::BadAccessHandler handler(Opener::open, &opener);
        bench.coherence.remove(bench.region);
        CHECK(is_refused(bench.host(1)));
    }
    sigaction(SIGSEGV, &before, nullptr);
}

/* It has no GPU: what that has is refused, and nobody waits for it. */
void a_forked_child()
{
    Bench bench(64, Party::gpus);
    bench.kernel(1) = 1;
    const pid_t child = fork();
    if (child == 0) {
        struct sigaction mine {};
        mine.sa_handler = [](int) { _exit(7); };
        {
            const Closed closed;
            sigaction(SIGSEGV, &mine, nullptr);
            Opener opener{&closed};
            const ptsched::BadAccessHandler handler(Opener::open, &opener);
            bench.host(1) = 2;
        }
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    CHECK(bench.coherence.owner(bench.region) == Party::gpus);
}

} // namespace

std::vector<tap::Case> test::fault_cases()
{
    return {{"accesses: handlers are asked in turn", handlers_are_asked_in_turn},
            {"accesses: what is nobody's goes to who was there before", what_is_nobodys_goes_on},
            {"accesses: handlers that pass on to each other", no_circle},
            {"accesses: so many handlers and no more", there_are_not_too_many},
            {"faults: the first write to a page is one", first_write_is_a_fault},
            {"faults: few where pages are touched in order", few_faults_in_order},
            {"faults: of several threads at once", threads_fault_at_once},
            {"faults: beside releases", faults_beside_releases},
            {"faults: of a forked child", a_forked_child},
            {"faults: pages of no arena are not served", pages_of_nobody}};
}
