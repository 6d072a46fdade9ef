// SPDX-License-Identifier: MIT
/*
 * Graphs with the kernel of multiply_add.cu, compiled from its source when the graph is made, and from a file of PTX.
 * Fails if a result is wrong, or if what does not fit the kernel, or does not compile, is not refused in the right
 * words.
 */
#include <ptsched/ptask/graph.hpp>

#include <cstdio>
#include <fstream>

using namespace ptsched::ptask;

namespace {

constexpr unsigned n = 1000, runs = 20;
const auto vector = Template::of<float>(n);
const char *const kernel = "multiply_add";

using Add = std::function<Task &(Graph &graph, const std::string &name, const std::vector<PortOptions> &ports)>;

std::string content(const char *path)
{
    std::ifstream file(path);
    std::string text((std::istreambuf_iterator<char>(file)), {});
    if (text.empty())
        throw Error(std::string("cannot read ") + path);
    return text;
}

DatablockPtr filled(float value)
{
    return Datablock::of(std::vector<float>(n, value));
}

void expect_all(float expected, const View<float> &found)
{
    for (unsigned i = 0; i < n; i++)
        if (found[i] != expected)
            throw Error("element " + std::to_string(i) + " is " + std::to_string(found[i]) + ", not " +
                        std::to_string(expected));
}

void computes(const Add &add)
{
    Graph graph;
    Task &task = add(graph, "sum", {inout("y", vector), in("x", vector), value("a", sizeof(float)), constant("n", n)});
    Input &y = graph.input(task["y"]), &x = graph.input(task["x"]), &a = graph.input(task["a"]);
    Output &sum = graph.output(task["y"]);
    graph.run();
    for (unsigned i = 0; i < runs; i++) {
        const float factor = static_cast<float>(i);
        a.push_value(factor);
        y.push(filled(1));
        x.push(filled(10));
        expect_all(1 + factor * 10, sum.pull<float>());
    }
}

void refuses(const Add &add, const std::vector<PortOptions> &ports, const std::vector<std::string> &words)
{
    std::string text;
    try {
        Graph graph;
        add(graph, "refused", ports);
    } catch (const Error &error) {
        text = error.what();
    }
    if (text.empty())
        throw Error("a task that should be refused is not (drivers before CUDA 12.4 do not know parameters)");
    std::printf("refused: %s\n", text.c_str());
    for (const std::string &word : words)
        if (text.find(word) == std::string::npos)
            throw Error("that does not say \"" + word + "\"");
}

void check(const char *how, const Add &add)
{
    computes(add);
    std::printf("%s: %u results are right\n", how, runs);
    refuses(add, {inout("y", vector), in("x", vector), constant("n", n)},
            {"task refused", kernel, "takes 4 parameters, in bytes: 8 8 4 4", "give 3: y 8 x 8 n 4"});
    refuses(add, {inout("y", vector), in("x", vector), constant("a", 1.0), constant("n", n)},
            {"task refused", kernel, "8 8 4 4", "give 4: y 8 x 8 a 8 n 4"});
}

void check_all(const char *source, const char *ptx)
{
    const std::string text = content(source);
    check("from source", [&](Graph &graph, const std::string &name, const std::vector<PortOptions> &ports) -> Task & {
        return graph.cuda_source(name, {text, kernel}, ports);
    });
    refuses(
        [](Graph &graph, const std::string &name, const std::vector<PortOptions> &ports) -> Task & {
            return graph.cuda_source(name, {"__global__ void wrong() { undeclared(); }", "wrong"}, ports);
        },
        {out("y", vector)}, {"task refused", "kernel wrong does not compile", "undeclared"});
    check("from PTX", [&](Graph &graph, const std::string &name, const std::vector<PortOptions> &ports) -> Task & {
        return graph.cuda(name, {ptx, kernel}, ports);
    });
}

} // namespace

int main(int argc, char **argv)
{
    if (argc != 3) {
        std::fprintf(stderr, "usage: compiled_graph SOURCE PTX   (multiply_add.cu, and what nvcc -ptx makes of it)\n");
        return 2;
    }
    try {
        check_all(argv[1], argv[2]);
    } catch (const Error &error) {
        std::fprintf(stderr, "compiled_graph: %s\n", error.what());
        return 1;
    }
    return 0;
}
