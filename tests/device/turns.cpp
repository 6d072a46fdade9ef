// SPDX-License-Identifier: MIT
/* Turns on a device, given out by a broker, between this process and another. */
#include <ptsched/device/turns.hpp>

#include "tests/device/work.hpp"
#include <ptsched/ptsched.hpp>

#include <fcntl.h>
#include <future>
#include <sys/socket.h>

using namespace test;
using device::Attach;
using device::Turns;

namespace {

/* A program of its own, with a socket for its input and what it says. */
class Child {
public:
    explicit Child(std::vector<std::string> words, int output = STDOUT_FILENO)
    {
        int ends[2];
        std::vector<char *> argv;
        for (std::string &word : words)
            argv.push_back(word.data());
        argv.push_back(nullptr);
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
            throw std::runtime_error("no socket for a program");
        pid_ = fork();
        if (!pid_) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            dup2(ends[1], STDIN_FILENO);
            dup2(ends[1], output);
            execv(argv[0], argv.data());
            _exit(127);
        }
        close(ends[1]);
        fd_ = ends[0];
    }
    ~Child()
    {
        close(fd_);
        kill(pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
    }
    Child(const Child &) = delete;
    Child &operator=(const Child &) = delete;

    void tell(char what) { CHECK(write(fd_, &what, 1) == 1); }
    /* Waits until it says something; 0 if it ends without. */
    char told()
    {
        char what = 0;
        return read(fd_, &what, 1) == 1 ? what : '\0';
    }

    /* Waits until it has said that; false if it ends without. */
    bool has_told(const std::string &words)
    {
        std::string said;
        while (said.find(words) == std::string::npos)
            if (const char what = told())
                said += what;
            else
                return false;
        return true;
    }

private:
    pid_t pid_ = -1;
    int fd_ = -1;
};

/* A scheduler for the virtual GPUs, which is found as long as this lives. */
class Broker {
public:
    Broker() : program_({folder() + "/../bin/ptschedd", "--socket", socket(), "--test-devices", "2"}, STDERR_FILENO)
    {
        setenv("PTSCHED_DEVICE_NODE", "/nowhere", 1);
        setenv("PTSCHED_SOCKET", socket().c_str(), 1);
        CHECK(program_.has_told("listening"));
    }
    ~Broker() { unlink(socket().c_str()); }
    Broker(const Broker &) = delete;
    Broker &operator=(const Broker &) = delete;

private:
    static std::string socket() { return "/tmp/device-turns-" + std::to_string(getpid()); }
    Child program_;
};

/* Another process, which takes the turn when it is told to, and gives it back. */
class Rival : public Child {
public:
    Rival() : Child({std::filesystem::read_symlink("/proc/self/exe"), "rival"}) { CHECK(told() == 'r'); }
};

std::promise<void> once(std::promise<void> &promise)
{
    return std::exchange(promise, {});
}

void recalled_for_another()
{
    Broker broker;
    Rival rival;
    std::promise<void> recalled, may_begin;
    std::atomic<unsigned> recalls{0};
    auto turns = Turns::open(gpu(), Attach::required,
                             {.may_begin = [&] { once(may_begin).set_value(); },
                              .recalled =
                                  [&] {
                                      recalls++;
                                      once(recalled).set_value();
                                  }});
    if (!CHECK(turns))
        return;
    auto is_recalled = recalled.get_future();
    CHECK(turns->wait_to_begin());
    CHECK(turns->begin());
    rival.tell('t');
    is_recalled.wait();
    /* What is on the device keeps the turn, and nothing comes to it. */
    CHECK(!turns->begin());
    turns->ended();
    turns->ended();
    CHECK(rival.told() == 'h');
    CHECK(!turns->wait_to_begin(std::chrono::nanoseconds(0)));
    rival.tell('g');
    CHECK(turns->wait_to_begin());
    CHECK_EQ(recalls.load(), 1u);
    turns->ended();
    turns->quit();
}

void without_a_scheduler()
{
    setenv("PTSCHED_DEVICE_NODE", "/nowhere", 1);
    setenv("PTSCHED_SOCKET", "/nowhere", 1);
    CHECK(!Turns::open(gpu(), Attach::no));
    CHECK(!Turns::open(gpu(), Attach::if_possible));
    CHECK(refused([] { Turns::open(gpu(), Attach::required, {.user = "farm"}); },
                  {"the farm is to be scheduled on", gpu().name()}));
    CHECK(refused([] { Turns::open(device::host(), Attach::required); }, {"host", "PCI"}));
}

/* Then nobody waits for it any more. */
void when_the_scheduler_ends()
{
    auto broker = std::make_unique<Broker>();
    Rival rival;
    auto turns = Turns::open(gpu(), Attach::required);
    rival.tell('t');
    CHECK(rival.told() == 'h');
    CHECK(!turns->begin());
    broker.reset();
    CHECK(turns->wait_to_begin());
    turns->ended();
    CHECK(turns->begin());
    turns->ended();
}

} // namespace

int test::rival()
{
    auto say = [](char what) { return write(STDOUT_FILENO, &what, 1) == 1; };
    ptsched::Client client("ffff:01:00.0", PTSCHED_MECHANISM_GATE, PTSCHED_BACKEND_BROKER);
    char what;
    if (!say('r'))
        return 1;
    while (read(STDIN_FILENO, &what, 1) == 1) {
        ptsched::Turn turn(client);
        if (!say('h') || read(STDIN_FILENO, &what, 1) != 1)
            return 1;
    }
    return 0;
}

std::vector<tap::Case> test::turn_cases()
{
    return {{"a turn is recalled, and comes again", recalled_for_another},
            {"turns without a scheduler", without_a_scheduler},
            {"turns when the scheduler ends", when_the_scheduler_ends}};
}
