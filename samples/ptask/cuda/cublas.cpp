// SPDX-License-Identifier: MIT
/*
 * A x B x C with cuBLAS: tasks that give a library's work to the stream that they are called with. Needs the CUDA
 * toolkit and a GPU: make build/samples/cublas
 */
#include "samples/ptask/example.hpp"
#include <ptsched/ptask/typed.hpp>

#include <cublas_v2.h>
#include <map>

using namespace ptsched::ptask;

namespace {

constexpr int n = 512, sets = 20;

void check(cublasStatus_t status)
{
    if (status != CUBLAS_STATUS_SUCCESS)
        throw Error(std::string("cuBLAS: ") + cublasGetStatusString(status));
}

/* One handle for each GPU: a graph calls a task's function once at a time, and so it does these. */
class Handles {
public:
    Handles() = default;
    ~Handles()
    {
        for (const auto &[device, handle] : handles_)
            cublasDestroy(handle);
    }
    Handles(const Handles &) = delete;
    Handles &operator=(const Handles &) = delete;

    /* The GPU's context is current. */
    cublasHandle_t of(const StreamCall &call)
    {
        cublasHandle_t &handle = handles_[call.device()];
        if (!handle)
            check(cublasCreate(&handle));
        check(cublasSetStream(handle, call.stream()));
        return handle;
    }

private:
    std::map<int, cublasHandle_t> handles_;
};

/* cuBLAS has columns where these matrices have rows: what it takes for B x A is A x B. */
Task &add_product(Graph &graph, const std::string &name, Handles &handles)
{
    auto multiply = [&handles](StreamCall &call) {
        const float one = 1, zero = 0;
        check(cublasSgemm(handles.of(call), CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, call.at<const float>(1), n,
                          call.at<const float>(0), n, &zero, call.at<float>(2), n));
    };
    return graph.cuda_call(name, multiply, {in<float>("a", n, n), in<float>("b", n, n), out<float>("c", n, n)});
}

void multiply(char **)
{
    Handles handles;
    Graph graph;
    Task &ab = add_product(graph, "AxB", handles), &abc = add_product(graph, "ABxC", handles);
    Input &a = graph.input(ab["a"]), &b = graph.input(ab["b"]), &c = graph.input(abc["b"]);
    graph.connect(ab["c"], abc["a"]);
    Output &product = graph.output(abc["c"]);
    graph.run();

    const auto filled = [](float value) { return Datablock::of(std::vector<float>(n * n, value)); };
    for (int i = 1; i <= sets; i++) {
        a.push(filled(static_cast<float>(i)));
        b.push(filled(2));
        c.push(filled(3));
        const float found = product.pull<float>()[n], expected = static_cast<float>(i) * 2 * 3 * n * n;
        if (found != expected)
            throw Error("an element of A x B x C is " + std::to_string(found) + ", not " + std::to_string(expected));
    }
    std::printf("%d products are right\n", sets);
}

} // namespace

int main(int argc, char **argv)
{
    return example::run(argc, argv, 0, "usage: cublas\nMultiplies matrices with cuBLAS, by tasks of a graph.\n",
                        multiply);
}
