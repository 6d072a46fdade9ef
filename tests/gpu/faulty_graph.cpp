// SPDX-License-Identifier: MIT
/*
 * A graph with a kernel of faults.cu, which meets what it cannot do. Prints what the graph says then, and fails if that
 * does not name the task, or if another graph, of the host, does not go on.
 */
#include "tests/ptask/failure_of.hpp"
#include <ptsched/ptask/graph.hpp>

#include <cstdio>
#include <cstring>

using namespace ptsched::ptask;

namespace {

const auto one = Template::of<int>(1);

void expect(bool good, const std::string &what)
{
    if (!good)
        throw Error(what);
}

/* The faulty task, by itself or as the second of two in a CUDA graph. */
class Faulty {
public:
    Faulty(const char *module, const char *kernel, bool lowered)
        : lowered_(lowered), graph_({.lower = lowered ? Lower::always : Lower::never}),
          task_(graph_.cuda("faulty", {module, kernel, Geometry{}}, {inout("x", one)})),
          output_(graph_.output(task_["x"])), input_(&input(module))
    {
        graph_.run();
        do
            expect(pass(6) == (lowered ? 8 : 7), "what is right comes out wrong");
        while (lowered && !task_.lowered());
    }

    std::string failure()
    {
        return test::failure_of([this] { pass(-7); });
    }

    std::string names() const { return lowered_ ? "one of the tasks sound, faulty: " : "task faulty: "; }

private:
    Input &input(const char *module)
    {
        if (!lowered_)
            return graph_.input(task_["x"]);
        Task &before = graph_.cuda("sound", {module, "sound", Geometry{}}, {inout("x", one)});
        graph_.connect(before["x"], task_["x"]);
        return graph_.input(before["x"]);
    }

    int pass(int number)
    {
        input_->push_value(number);
        return output_.pull()->as<int>()[0];
    }

    bool lowered_;
    Graph graph_;
    Task &task_;
    Output &output_;
    Input *input_;
};

void other_goes_on(Input &input, Output &output)
{
    input.push_value(7);
    DatablockPtr found = output.pull(std::chrono::seconds(60));
    expect(found && found->as<int>()[0] == 8, "another graph does not go on");
}

void run(const char *module, const char *kernel, bool lowered)
{
    Graph other;
    Task &next = other.host("next", [](const Arguments &ports) { ++*static_cast<int *>(ports[0]); }, {inout("x", one)});
    Input &input = other.input(next["x"]);
    Output &output = other.output(next["x"]);
    other.run();
    Faulty faulty(module, kernel, lowered);
    const std::string failure = faulty.failure();
    std::puts(failure.c_str());
    expect(failure.starts_with(faulty.names()), "it should begin with: " + faulty.names());
    other_goes_on(input, output);
}

} // namespace

int main(int argc, char **argv)
{
    const bool lowered = argc == 4 && std::strcmp(argv[3], "lowered") == 0;
    if (argc != 3 && !lowered) {
        std::fprintf(stderr, "usage: faulty_graph MODULE KERNEL [lowered]\n");
        return 2;
    }
    try {
        run(argv[1], argv[2], lowered);
    } catch (const Error &error) {
        std::fprintf(stderr, "faulty_graph: %s\n", error.what());
        return 1;
    }
    return 0;
}
