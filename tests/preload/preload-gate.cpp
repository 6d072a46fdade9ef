// SPDX-License-Identifier: MIT
/*
 * The gate against a scheduler and a driver that do what the test says: who waits for what, and what is let through and
 * given back when. Every wait here is for an event, never for a time, but where that is what is counted.
 */
#include "tests/preload/by_hand.h"
#include "tests/sanitizers.h"

#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <list>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>

extern "C" {
CUresult cuLaunchKernel_ptsz(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream,
                             void **, void **);
CUresult cuMemcpyHtoD_v2(CUdeviceptr, const void *, std::size_t);
CUresult cuStreamDestroy_v2(CUstream);
CUresult cuLaunchHostFunc(CUstream, CUhostFn, void *);
CUresult cuCtxGetCurrent(CUcontext *);
CUresult cuCtxCreate_v2(CUcontext *, unsigned, CUdevice);
CUresult cuDevicePrimaryCtxRetain(CUcontext *, CUdevice);
}

namespace {

/* A launch in another thread, which may be waiting. */
class Launch {
public:
    explicit Launch(CUstream stream = nullptr) : thread_([this, stream] { result_ = launch(stream); }) {}
    bool done() const { return thread_.done(); }
    CUresult join()
    {
        thread_.join();
        return result_;
    }

private:
    CUresult result_{CUDA_ERROR_UNKNOWN};
    Thread thread_;
};

void first_submission_attaches()
{
    CHECK_EQ(scheduler->opens(), 0ul);
    CHECK_EQ(int(launch()), 0);
    CHECK_EQ(scheduler->opens(), 1ul);
    CHECK(scheduler->state() & turn);
    CHECK_EQ(launches(), 1ul);
}

/* What the first launch would wait for is there by then. An exempt thread's contexts are not for us. */
void a_context_that_begins_attaches()
{
    in_a_child([] {
        auto exempt = reinterpret_cast<int (*)(int)>(dlsym(RTLD_DEFAULT, "ptsched_preload_exempt"));
        unsigned long opens = scheduler->opens(), events = hand->events_there();
        CUcontext context = nullptr;
        exempt(1);
        cuDevicePrimaryCtxRetain(&context, 1);
        exempt(0);
        bool right = scheduler->opens() == opens && hand->events_there() == events;
        cuDevicePrimaryCtxRetain(&context, 0);
        right = right && scheduler->opens() == opens + 1 && !(scheduler->state() & turn);
        events = hand->events_there();
        hand_use_device(0);
        launch();
        /* Besides the one that times count from. */
        bool no_more_events = hand->events_there() <= events + 1;
        return right && no_more_events && scheduler->opens() == opens + 1 && scheduler->state() & turn;
    });
}

/* One kernel of each thread goes ahead of the turn; a copy, whose call may take long, does not. */
void preadmitted_goes_ahead()
{
    give_back();
    scheduler->grant_at_once(0);
    scheduler->change(PTSCHED_STATE_PREADMITTED, 0);
    unsigned long before = launches(), copies = hand->calls("cuMemcpyHtoD_v2");
    unsigned long long submissions = scheduler->submissions(), gpu_ns = scheduler->gpu_ns();
    {
        Launch ahead;
        scheduler->await_waiting(1);
        CHECK_EQ(launches(), before + 1);
        CHECK(!ahead.done());
        Thread copy([] {
            char byte = 0;
            cuMemcpyHtoD_v2(0, &byte, 1);
        });
        scheduler->await_waiting(2);
        CHECK_EQ(hand->calls("cuMemcpyHtoD_v2"), copies);
        Launch second;
        scheduler->await_waiting(3);
        CHECK_EQ(launches(), before + 1);
        scheduler->change(0, PTSCHED_STATE_PREADMITTED);
        scheduler->grant();
        copy.join();
        CHECK_EQ(int(second.join()), 0);
        CHECK_EQ(int(ahead.join()), 0);
    }
    CHECK_EQ(launches(), before + 2);
    CHECK_EQ(hand->calls("cuMemcpyHtoD_v2"), copies + 1);
    scheduler->grant_at_once(1);
    scheduler->change(contended, 0);
    give_back();
    CHECK_EQ(scheduler->submissions() - submissions, 3ull);
    CHECK_EQ(scheduler->gpu_ns() - gpu_ns, 3000000ull);
}

void waits_without_turn()
{
    give_back();
    scheduler->grant_at_once(0);
    unsigned long before = launches();
    {
        Launch waiter;
        scheduler->await_waiting(1);
        CHECK_EQ(launches(), before);
        CHECK(!waiter.done());
        scheduler->grant();
        CHECK_EQ(int(waiter.join()), 0);
    }
    CHECK_EQ(launches(), before + 1);
    scheduler->grant_at_once(1);
}

void callback_drains_first()
{
    hand->complete_by_itself(0);
    CUstream stream = new_stream();
    for (CUstream s : {CUstream(nullptr), stream, stream})
        CHECK_EQ(int(launch(s)), 0);
    unsigned long before = launches(), releases = scheduler->releases();
    scheduler->change(callback | contended, 0);
    scheduler->await_acknowledged();
    scheduler->grant_at_once(0);
    Launch waiter(stream);
    /* The turn stays while work is in flight, and nothing more is submitted. */
    CHECK(scheduler->state() & turn);
    CHECK_EQ(scheduler->releases(), releases);
    CHECK_EQ(launches(), before);
    hand->complete_all();
    scheduler->await_releases(releases + 1);
    scheduler->await_waiting(1);
    CHECK_EQ(launches(), before);
    scheduler->grant();
    CHECK_EQ(int(waiter.join()), 0);
    CHECK_EQ(launches(), before + 1);
    scheduler->grant_at_once(1);
    give_back();
}

void wanted_releases_when_idle()
{
    CHECK_EQ(int(launch()), 0);
    unsigned long releases = scheduler->releases();
    scheduler->change(wanted | contended, 0);
    scheduler->await_releases(releases + 1);
    CHECK(!(scheduler->state() & turn));
    /* The next one asks again. */
    scheduler->change(0, wanted | contended);
    CHECK_EQ(int(launch()), 0);
    CHECK(scheduler->state() & turn);
    give_back();
}

/* So long after its first submission, in a state that has all of @company, a new program's level is found, in ms. */
unsigned long long level_is_found_after_ms(unsigned company)
{
    unsigned long before = scheduler->mechanisms();
    std::uint64_t since = test_clock->now_ns();
    hand->complete_by_itself(0);
    launch();
    scheduler->change(company, 0);
    scheduler->await_mechanisms(before + 1);
    return (test_clock->now_ns() - since) / 1000000;
}

/* That has its work off the hardware for a moment: nobody's first launch is to wait for it without need. */
void level_is_found_in_time()
{
    give_back();
    in_a_child([] { return level_is_found_after_ms(PTSCHED_STATE_CONTENDED | PTSCHED_STATE_OUTWEIGHED) < 50; });
    in_a_child([] { return level_is_found_after_ms(PTSCHED_STATE_CONTENDED) / 50 == 2; });
    in_a_child([] { return level_is_found_after_ms(0) / 50 == 2; });
}

void many_threads()
{
    constexpr int threads = 8, each = 500;
    unsigned long before = launches(), ptsz_before = hand->calls("cuLaunchKernel_ptsz");
    std::atomic<bool> stop{false};
    std::list<Thread> running;
    for (int t = 0; t < threads; t++) {
        running.emplace_back([t] {
            CUstream stream = t % 2 ? new_stream() : nullptr;
            for (int i = 0; i < each; i++) {
                launch(stream);
                if (i % 10 == 0)
                    cuLaunchKernel_ptsz(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr);
                if (i % 100 == 0)
                    cuStreamSynchronize(stream);
            }
            if (stream)
                cuStreamDestroy_v2(stream);
        });
    }
    std::thread caller([&] {
        while (!stop) {
            scheduler->change(callback | contended, 0);
            std::this_thread::yield();
            scheduler->change(lighter, callback | contended);
            std::this_thread::yield();
            scheduler->change(0, lighter);
        }
    });
    for (Thread &thread : running)
        thread.join();
    stop = true;
    caller.join();
    CHECK_EQ(launches(), before + threads * each);
    CHECK_EQ(hand->calls("cuLaunchKernel_ptsz"), ptsz_before + threads * (each / 10));
    give_back();
}

void current_context_is_kept()
{
    CUcontext before, after;
    hand_use_device(1);
    cuCtxGetCurrent(&before);
    CHECK_EQ(int(launch()), 0);
    cuCtxGetCurrent(&after);
    CHECK(before == after);
    CHECK_EQ(scheduler->opens(), 2ul);
    hand_use_device(0);
    CHECK_EQ(int(launch()), 0);
    CHECK_EQ(scheduler->opens(), 2ul);
}

/* It would look for ever, at a priority at which it may keep the scheduler itself off its CPU. */
void call_without_news_is_acknowledged()
{
    CHECK_EQ(int(launch()), 0);
    scheduler->call_for_nothing();
    unsigned state = scheduler->state();
    CHECK(state & turn);
}

/* The child of a fork has no turn, whatever its parent has, and attaches for itself. */
void fork_begins_clean()
{
    hand_use_device(0);
    CHECK_EQ(int(launch()), 0);
    unsigned long opens = scheduler->opens();
    in_a_child(
        [=] { return scheduler->opens() == opens && launch() == CUDA_SUCCESS && scheduler->opens() == opens + 1; });
    CHECK_EQ(int(launch()), 0);
    CHECK_EQ(scheduler->opens(), opens);
}

void launch_without_scheduler()
{
    scheduler->refuse(ENOENT);
    Thread other([] {
        hand_use_device(1);
        for (int i = 0; i < 100; i++)
            launch();
    });
    for (int i = 0; i < 100; i++) {
        if (launch() != CUDA_SUCCESS)
            _exit(1);
    }
    other.join();
}

void launch_on_unknown_device()
{
    scheduler->refuse(ENODEV);
    for (int i = 0; i < 100; i++)
        launch();
}

void launch_while_the_scheduler_dies()
{
    launch();
    scheduler->take_back(contended);
    scheduler->grant_at_once(0);
    Launch waiter;
    scheduler->await_waiting(1);
    scheduler->die();
    if (waiter.join() != CUDA_SUCCESS)
        _exit(1);
    for (int i = 0; i < 100; i++)
        launch();
}

/* As a service does that writes its data to whatever is free. */
void launch_with_own_file_for_errors()
{
    int file = memfd_create("data", 0);
    if (dup2(file, STDERR_FILENO) < 0)
        _exit(1);
    launch_without_scheduler();
    struct stat status;
    if (fstat(file, &status) < 0 || status.st_size)
        _exit(1);
}

struct Speaker {
    const char *name;
    void (*body)();
};
constexpr Speaker speakers[] = {
    {"--without-scheduler", launch_without_scheduler},
    {"--on-unknown-device", launch_on_unknown_device},
    {"--while-it-dies", launch_while_the_scheduler_dies},
    {"--own-file-for-errors", launch_with_own_file_for_errors},
};

/* What one of them writes to standard error, in a program of its own: it has it from its start. */
std::string errors_of(const char *speaker)
{
    int ends[2];
    if (pipe(ends) < 0)
        return "no pipe";
    pid_t child = fork_when_all_sleep();
    if (!child) {
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        execl("/proc/self/exe", "preload-gate", speaker, nullptr);
        _exit(2);
    }
    close(ends[1]);
    std::string text;
    char buffer[512];
    for (ssize_t n; (n = read(ends[0], buffer, sizeof(buffer))) > 0;)
        text.append(buffer, static_cast<std::size_t>(n));
    close(ends[0]);
    int status = -1;
    waitpid(child, &status, 0);
    CHECK_EQ(status, 0);
    return text;
}

void absent_scheduler_warns_once()
{
    std::string text = errors_of("--without-scheduler");
    CHECK_EQ(lines(text), 1l);
    CHECK(text.starts_with("ptsched: ") && text.find("running unscheduled") != text.npos);
    CHECK(text.find("because there is no scheduler here") != text.npos);
}

void unknown_device_warns_once()
{
    std::string text = errors_of("--on-unknown-device");
    CHECK_EQ(lines(text), 1l);
    CHECK(text.find("0000:1a:00.0") != text.npos);
}

void dying_scheduler_frees_waiters()
{
    std::string text = errors_of("--while-it-dies");
    CHECK_EQ(lines(text), 1l);
    CHECK(text.find("unscheduled, because the scheduler is gone") != text.npos);
}

void own_file_is_left_alone()
{
    CHECK(errors_of("--own-file-for-errors").empty());
}

void host_work_does_not_deadlock()
{
    give_back();
    hand->complete_by_itself(0);
    CHECK_EQ(int(launch()), 0);
    CHECK_EQ(int(cuLaunchHostFunc(nullptr, nullptr, nullptr)), 0);
    unsigned long before = launches();
    scheduler->change(callback | contended, 0);
    Launch needed;
    scheduler->await_acknowledged();
    /* The scheduler admits others, since the turn does not drain; then so does the gate. */
    scheduler->change(PTSCHED_STATE_SHARED, 0);
    CHECK_EQ(int(needed.join()), 0);
    CHECK_EQ(launches(), before + 1);
    scheduler->change(0, PTSCHED_STATE_SHARED);
    unsigned long releases = scheduler->releases();
    hand->complete_all();
    scheduler->await_releases(releases + 1);
    give_back();
}

std::filesystem::path stats_file()
{
    return std::getenv("PTSCHED_STATS");
}

/* As a child tells at its exit. */
template <class Body> unsigned long long waited_ns(Body body)
{
    std::filesystem::resize_file(stats_file(), 0);
    in_a_child([&] {
        body();
        std::exit(0);
        return false;
    });
    constexpr const char *field = "\"wait_ns\": ";
    std::string line;
    std::getline(std::ifstream(stats_file()), line);
    std::size_t found = line.find(field);
    return found == line.npos ? 0 : std::stoull(line.substr(found + std::strlen(field)));
}

/* Whichever way it ends. */
void time_waited_is_told()
{
    constexpr unsigned long long waited_ms = 50, waited = waited_ms * 1000000;
    auto for_a_turn = [=](void (*end)()) {
        return waited_ns([=] {
            launch();
            give_back();
            scheduler->grant_at_once(0);
            Launch waiter;
            scheduler->await_waiting(1);
            pass_ms(waited_ms);
            end();
        });
    };
    give_back();
    CHECK_EQ(for_a_turn(scheduler->die), waited);
    CHECK_EQ(for_a_turn(scheduler->grant), waited);
    /* That the turn is shared is looked for now and then. */
    CHECK(waited_ns([=] {
              launch();
              hand->complete_by_itself(0);
              launch();
              cuLaunchHostFunc(nullptr, nullptr, nullptr);
              scheduler->change(callback | contended, 0);
              Launch waiter;
              scheduler->await_acknowledged();
              pass_ms(waited_ms);
              scheduler->change(PTSCHED_STATE_SHARED, 0);
              waiter.join();
              hand->complete_all();
          }) >= waited);
}

/* A thread that is exempt submits without a turn, and is not counted; others wait, and so does it afterwards. */
void exempt_threads_pass()
{
    auto exempt = reinterpret_cast<int (*)(int)>(dlsym(RTLD_DEFAULT, "ptsched_preload_exempt"));
    if (!CHECK(exempt))
        return;
    give_back();
    scheduler->grant_at_once(0);
    unsigned long before = launches(), waiting = scheduler->waiting();
    unsigned long long submissions = scheduler->submissions();
    CHECK_EQ(exempt(1), 0);
    CHECK_EQ(exempt(1), 1);
    for (int i = 0; i < 50; i++)
        CHECK_EQ(int(launch()), 0);
    CHECK_EQ(launches(), before + 50);
    CHECK_EQ(scheduler->waiting(), waiting);

    /* Its scope does not keep a turn from being given back that another thread gets. */
    Launch other;
    scheduler->await_waiting(waiting + 1);
    CHECK(!other.done());
    scheduler->grant();
    CHECK_EQ(int(other.join()), 0);
    CHECK(scheduler->take_back(0));

    CHECK_EQ(exempt(0), 1);
    Launch after;
    scheduler->await_waiting(waiting + 1);
    CHECK_EQ(launches(), before + 51);
    scheduler->grant();
    CHECK_EQ(int(after.join()), 0);
    scheduler->grant_at_once(1);
    give_back();
    CHECK_EQ(scheduler->submissions() - submissions, 2ull);
}

} // namespace

#ifndef PTSCHED_TEST_SANITIZED
namespace {

/* Set: the interposer gets no memory. */
std::atomic<const void *> without_memory{nullptr};

const void *library_of(const void *address)
{
    Dl_info info;
    return dladdr(address, &info) ? info.dli_fbase : nullptr;
}

/* Each call is made once, and scheduled as ever when there is memory again. */
void program_outlives_lack_of_memory()
{
    give_back();
    in_a_child([] {
        constexpr unsigned long count = 200;
        CUstream stream = new_stream();
        auto right_without = [stream] {
            unsigned long before = launches(), failed = 0;
            without_memory = library_of(scheduler);
            for (unsigned long i = 0; i < count; i++) {
                failed += launch() != CUDA_SUCCESS;
                failed += launch(stream) != CUDA_SUCCESS;
            }
            failed += cuLaunchHostFunc(stream, nullptr, nullptr) != CUDA_SUCCESS;
            failed += cuStreamDestroy_v2(stream) != CUDA_SUCCESS;
            CUcontext context = nullptr;
            cuCtxGetCurrent(&context);
            failed += cuCtxCreate_v2(&context, 0, 0) != CUDA_SUCCESS;
            without_memory = nullptr;
            return !failed && launches() == before + 2 * count;
        };
        bool right = right_without() && launch() == CUDA_SUCCESS && scheduler->state() & turn;
        scheduler->change(contended, 0);
        scheduler->await_acknowledged();
        /* By then the agent has slept once: it needs no more memory for that. */
        scheduler->call_for_nothing();
        right = right_without() && right;
        give_back();
        unsigned long long submissions = scheduler->submissions();
        launch();
        give_back();
        return right && scheduler->submissions() == submissions + 1;
    });
}

} // namespace

extern "C" void *__libc_malloc(std::size_t);

extern "C" void *malloc(std::size_t size)
{
    const void *starving = without_memory.load(std::memory_order_relaxed);
    return starving && library_of(__builtin_return_address(0)) == starving ? nullptr : __libc_malloc(size);
}
#endif

int main(int argc, char **argv)
{
    /* A file of this process and its children, which ends with them. */
    if (!std::getenv("PTSCHED_STATS"))
        setenv("PTSCHED_STATS", ("/proc/self/fd/" + std::to_string(memfd_create("gate-stats", 0))).c_str(), 1);
    run_by_hand(argv);
    for (const Speaker &speaker : speakers) {
        if (argc == 2 && !std::strcmp(argv[1], speaker.name)) {
            speaker.body();
            _exit(0);
        }
    }
    return tap::run({
        {"the first submission attaches and takes the turn", first_submission_attaches},
        {"a context that begins attaches", a_context_that_begins_attaches},
        {"without the turn a submission waits", waits_without_turn},
        {"who would be admitted at once submits, and then asks", preadmitted_goes_ahead},
        {"a called-back turn is given back once the work in flight has drained", callback_drains_first},
        {"a wanted turn is given back when idle", wanted_releases_when_idle},
        {"what can be enforced is tried when that costs the least", level_is_found_in_time},
        {"work that waits for the host is not waited for when the turn is shared", host_work_does_not_deadlock},
        {"the time that submissions have waited is told", time_waited_is_told},
        {"what an exempt thread submits is neither gated nor counted", exempt_threads_pass},
        {"many threads and streams under a storm of call-backs", many_threads},
        {"a second device has its own client; the current context is kept", current_context_is_kept},
        {"a call without news is acknowledged, not looked into again and again", call_without_news_is_acknowledged},
        {"the child of a fork attaches for itself", fork_begins_clean},
#ifndef PTSCHED_TEST_SANITIZED
        {"without memory the program goes on unscheduled", program_outlives_lack_of_memory},
#endif
        {"no scheduler: one line, and the program runs", absent_scheduler_warns_once},
        {"a device unknown to the scheduler: one line that names it", unknown_device_warns_once},
        {"a scheduler that dies frees who waits: one line", dying_scheduler_frees_waiters},
        {"a file that the program has put in the place of standard error gets no line of ours", own_file_is_left_alone},
    });
}
