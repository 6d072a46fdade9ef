// SPDX-License-Identifier: MIT
/*
 * A program with a graph that attaches to ptsched, for the tests: it does what is said on its input, a word and an
 * argument a line, says "word argument" when that is done, and ends with its input.
 *
 *	ptask-attach-client no|if-possible|required|none [unprivileged]
 */
#include "libptsched/base/worker.hpp"
#include <ptsched/ptask/remote.hpp>
#include <ptsched/ptask/server.hpp>
#include <ptsched/ptsched.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <linux/capability.h>
#include <sys/syscall.h>

namespace {

using ptsched::Stop;
using ptsched::Worker;
using namespace ptsched::ptask;

constexpr unsigned records = 64;
constexpr std::uint64_t kernel_ns = 500000;
const auto form = Template::of<unsigned>(records);
const auto one = Template::of<int>(1);

/* A kernel that takes a while, a function of the host, and one that fails. */
struct Program {
    explicit Program(Attach how) : graph(options(how))
    {
        Task &spin = graph.cuda("spin", {std::getenv("PTSCHED_TEST_KERNELS"), "spin", Geometry{{1}, {records}}},
                                {inout("x", form), constant("ns", kernel_ns), constant("iterations", 10u)});
        Task &successor =
            graph.host("successor", [](const Arguments &x) { ++*static_cast<int *>(x[0]); }, {inout("x", one)});
        Task &bad = graph.host("bad", [](const Arguments &) { throw std::runtime_error("no luck"); }, {in("x", one)});
        x = &graph.input(spin["x"]);
        y = &graph.output(spin["x"]);
        host_x = &graph.input(successor["x"]);
        host_y = &graph.output(successor["x"]);
        bad_x = &graph.input(bad["x"]);
        graph.run();
    }

    static GraphOptions options(Attach how)
    {
        GraphOptions options;
        options.attach = how;
        return options;
    }
    void push()
    {
        std::vector<unsigned> values(records);
        x->push(Datablock::of(values.data(), values.size() * sizeof(unsigned)));
    }

    Graph graph;
    Input *x, *host_x, *bad_x;
    Output *y, *host_y;
};

/* Keeps the graph busy as long as it lives. */
class Spinner {
public:
    explicit Spinner(Program &program) : program_(program), worker_([this](const Stop &stop) { work(stop); }) {}

private:
    void work(const Stop &stop)
    {
        constexpr int inside = 8;
        for (int i = 0; i < inside; i++)
            program_.push();
        while (!stop.requested()) {
            program_.y->pull();
            program_.push();
        }
        for (int i = 0; i < inside; i++)
            program_.y->pull();
    }
    Program &program_;
    Worker worker_;
};

void drop_privilege()
{
    __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct data[2] = {};
    if (syscall(SYS_capget, &header, data) < 0)
        throw std::runtime_error("capget");
    for (auto *set : {&data[0].effective, &data[0].permitted})
        *set &= ~(1u << CAP_SYS_NICE);
    if (syscall(SYS_capset, &header, data) < 0)
        throw std::runtime_error("capset");
}

class Commands {
public:
    explicit Commands(const std::string &how)
    {
        if (how != "none")
            program_.emplace(how == "no" ? Attach::no : how == "required" ? Attach::required : Attach::if_possible);
    }

    void obey(const std::string &word, const std::string &argument)
    {
        if (word == "push")
            program_->push();
        else if (word == "pull")
            program_->y->pull();
        else if (word == "read")
            program_->y->pull()->read();
        else if (word == "run")
            run(std::stoi(argument));
        else if (word == "host")
            host();
        else if (word == "fail")
            fail();
        else if (word == "spin")
            spinner_.emplace(*program_);
        else if (word == "rest")
            spinner_.reset();
        else if (word == "serve")
            serve(server_, *program_, argument);
        else if (word == "twin")
            serve(twin_server_, twin_.emplace(Attach::required), argument);
        else if (word == "own")
            program_->graph.work_for(ptsched::UniqueFd(static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0))).get());
        else if (word == "push-to")
            push_to(argument);
        else if (word == "pull-from")
            pull_from(argument);
        else if (word == "remote")
            remote(argument);
        else if (word == "take")
            take();
        else if (word == "give")
            turn_.reset();
        else
            throw std::runtime_error("there is no " + word);
    }

private:
    void run(int count)
    {
        for (int i = 0; i < count; i++) {
            program_->push();
            program_->y->pull();
        }
    }
    void host()
    {
        program_->host_x->push_value(1);
        if (*static_cast<const int *>(program_->host_y->pull()->read()) != 2)
            throw std::runtime_error("1 and 1 is 2");
    }
    void fail()
    {
        program_->bad_x->push_value(1);
        try {
            for (;;)
                program_->y->pull();
        } catch (const Failure &) {
        }
    }
    static void serve(std::optional<Server> &server, Program &program, const std::string &path)
    {
        server.emplace(path, std::map<std::string, Input *>{{"x", program.x}},
                       std::map<std::string, Output *>{{"y", program.y}});
    }
    static void push_to(const std::string &path)
    {
        Remote x(path, "x", Remote::to_push);
        SharedMemory block(x.form().bytes());
        std::memset(block.data(), 0, block.bytes());
        x.push(std::move(block));
    }
    static void pull_from(const std::string &path) { Remote(path, "y", Remote::to_pull).pull(); }
    static void remote(const std::string &path)
    {
        for (int i = 0; i < 10; i++) {
            push_to(path);
            pull_from(path);
        }
    }
    /* A turn of the program's own. */
    void take()
    {
        if (!client_)
            client_.emplace("ffff:01:00.0");
        turn_.emplace(*client_);
    }

    std::optional<ptsched::Client> client_;
    std::optional<ptsched::Turn> turn_;
    std::optional<Program> program_, twin_;
    std::optional<Server> server_, twin_server_;
    std::optional<Spinner> spinner_;
};

} // namespace

int main(int argc, char **argv)
{
    try {
        if (argc > 2 && argv[2] == std::string("unprivileged"))
            drop_privilege();
        Commands commands(argc > 1 ? argv[1] : "none");
        std::printf("begun\n");
        std::fflush(stdout);
        for (std::string line; std::getline(std::cin, line);) {
            auto space = line.find(' ');
            commands.obey(line.substr(0, space), space == line.npos ? std::string() : line.substr(space + 1));
            std::printf("%s\n", line.c_str());
            std::fflush(stdout);
        }
        return 0;
    } catch (const std::exception &error) {
        std::fprintf(stderr, "client: %s\n", error.what());
        return 1;
    }
}
