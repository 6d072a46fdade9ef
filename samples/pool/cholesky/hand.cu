// SPDX-License-Identifier: MIT
/*
 * The steps of the pool as launches, in one stream, and in several with events; as a graph that knows what comes after
 * what; and cuSOLVER's function for the whole.
 */
#include "samples/common/check.hpp"
#include "samples/common/try_to.hpp"
#include "samples/pool/cholesky/hand.h"
#include "samples/pool/cholesky/tiles.cuh"

#include <cuda_runtime.h>
#include <cusolverDn.h>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

using cholesky::Kind;
using cholesky::Step;

extern __shared__ __align__(16) unsigned char memory[];

namespace {

constexpr unsigned int shared_bytes = 2 * sizeof(cholesky::Tile<double>);
constexpr unsigned int most_streams = 32;

__global__ void __launch_bounds__(cholesky::group_threads, 2) one_step(Step step, unsigned int *failed)
{
    cholesky::do_step(step, reinterpret_cast<cholesky::Tile<double> *>(memory));
    if (threadIdx.x == 0 && step.failed)
        *failed = 1;
}

using ptsched::samples::check;

/* Of the device; given back with its object. */
template <typename T> class Memory {
public:
    explicit Memory(std::size_t count) { check(cudaMalloc(&pointer_, count * sizeof(T))); }
    ~Memory() { cudaFree(pointer_); }
    Memory(const Memory &) = delete;
    Memory &operator=(const Memory &) = delete;
    T *get() const { return pointer_; }

private:
    T *pointer_ = nullptr;
};

class Stream {
public:
    Stream() { check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking)); }
    ~Stream() { cudaStreamDestroy(stream); }
    Stream(const Stream &) = delete;
    Stream &operator=(const Stream &) = delete;
    cudaStream_t stream = nullptr;
};

class Event {
public:
    Event() { check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming)); }
    ~Event() { cudaEventDestroy(event); }
    Event(const Event &) = delete;
    Event &operator=(const Event &) = delete;
    cudaEvent_t event = nullptr;
};

struct Problem {
    double *matrix;
    unsigned int n, columns;
    unsigned int tiles() const { return n / cholesky::size; }
};

class Form {
public:
    virtual ~Form() = default;
    virtual std::string name() const = 0;
    virtual CholeskyWay way() const = 0;
    virtual void run() = 0;
};

/*
 * The tiles of a row have a stream, so that only columns which others have solved are waited for: each once by a
 * stream, since what comes behind it there comes after that, too.
 */
class Launches : public Form {
public:
    Launches(const Problem &problem, unsigned int *failed, unsigned int streams)
        : problem_(problem), failed_(failed), streams_(streams), events_(problem.tiles()),
          last_(problem.tiles() * problem.tiles()), waited_(streams * problem.tiles())
    {
    }

    std::string name() const override
    {
        return "a launch each, in " + std::to_string(streams_.size()) + (streams_.size() > 1 ? " streams" : " stream");
    }
    CholeskyWay way() const override { return CHOLESKY_LAUNCHES; }

    void run() override
    {
        waited_.assign(waited_.size(), 0);
        cholesky::for_each_step(
            problem_.matrix, problem_.n, problem_.columns, last_.data(),
            [this](const Step &step, const Result *after, unsigned int count) { return launch(step, after, count); });
        for (const Stream &one : streams_)
            check(cudaStreamSynchronize(one.stream));
    }

private:
    /* Of a step: by whom, and, where others may need it, since which column. */
    struct Result {
        unsigned int row, column;
        bool has_event;
    };

    Result launch(const Step &step, const Result *after, unsigned int count)
    {
        const unsigned int place = step.row % streams_.size();
        cudaStream_t stream = streams_[place].stream;
        for (unsigned int i = 0; i < count; i++)
            wait(place, after[i]);
        one_step<<<1, cholesky::group_threads, shared_bytes, stream>>>(step, failed_);
        check(cudaGetLastError());
        const bool has_event = step.kind != Kind::update && streams_.size() > 1;
        if (has_event)
            check(cudaEventRecord(events_[step.row].event, stream));
        return {step.row, step.k, has_event};
    }

    void wait(unsigned int place, const Result &result)
    {
        if (!result.has_event || result.row % streams_.size() == place)
            return;
        unsigned int &waited = waited_[place * problem_.tiles() + result.row];
        if (waited == result.column + 1)
            return;
        waited = result.column + 1;
        check(cudaStreamWaitEvent(streams_[place].stream, events_[result.row].event));
    }

    const Problem problem_;
    unsigned int *const failed_;
    std::vector<Stream> streams_;
    std::vector<Event> events_; /* [row]: its last tile that was factored or solved */
    std::vector<Result> last_;
    std::vector<unsigned int> waited_; /* [stream][row]: for the tile of which column, from 1 on */
};

class Graph : public Form {
public:
    Graph(const Problem &problem, unsigned int *failed)
    {
        cudaGraph_t graph;
        check(cudaGraphCreate(&graph, 0));
        std::vector<cudaGraphNode_t> last(problem.tiles() * problem.tiles());
        cholesky::for_each_step(problem.matrix, problem.n, problem.columns, last.data(),
                                [&](Step step, const cudaGraphNode_t *after, unsigned int count) {
                                    return add(graph, step, failed, after, count);
                                });
        const cudaError_t error = cudaGraphInstantiate(&graph_, graph, 0);
        cudaGraphDestroy(graph);
        check(error);
        check(cudaGraphUpload(graph_, stream_.stream));
        check(cudaStreamSynchronize(stream_.stream));
    }
    ~Graph() override { cudaGraphExecDestroy(graph_); }

    std::string name() const override { return "the launches as a graph"; }
    CholeskyWay way() const override { return CHOLESKY_GRAPH; }

    void run() override
    {
        check(cudaGraphLaunch(graph_, stream_.stream));
        check(cudaStreamSynchronize(stream_.stream));
    }

private:
    static cudaGraphNode_t add(cudaGraph_t graph, Step &step, unsigned int *failed, const cudaGraphNode_t *after,
                               unsigned int count)
    {
        void *arguments[] = {&step, &failed};
        cudaKernelNodeParams kernel{};
        kernel.func = reinterpret_cast<void *>(one_step);
        kernel.gridDim = {1, 1, 1};
        kernel.blockDim = {cholesky::group_threads, 1, 1};
        kernel.sharedMemBytes = shared_bytes;
        kernel.kernelParams = arguments;
        cudaGraphNode_t node;
        check(cudaGraphAddKernelNode(&node, graph, after, count, &kernel));
        return node;
    }

    Stream stream_;
    cudaGraphExec_t graph_ = nullptr;
};

/* It has matrices by columns: what is below the diagonal by rows is above it there. */
class Solver : public Form {
public:
    Solver(const Problem &problem, int *info) : problem_(problem), info_(info)
    {
        check(cusolverDnCreate(&handle_));
        check(cusolverDnSetStream(handle_, stream_.stream));
        check(cusolverDnDpotrf_bufferSize(handle_, CUBLAS_FILL_MODE_UPPER, rows(), problem.matrix, rows(), &elements_));
        workspace_ = std::make_unique<Memory<double>>(static_cast<std::size_t>(elements_));
    }
    ~Solver() override { cusolverDnDestroy(handle_); }

    std::string name() const override { return "cuSOLVER"; }
    CholeskyWay way() const override { return CHOLESKY_CUSOLVER; }

    void run() override
    {
        check(cusolverDnDpotrf(handle_, CUBLAS_FILL_MODE_UPPER, rows(), problem_.matrix, rows(), workspace_->get(),
                               elements_, info_));
        check(cudaStreamSynchronize(stream_.stream));
    }

private:
    int rows() const { return static_cast<int>(problem_.n); }

    const Problem problem_;
    int *const info_;
    Stream stream_;
    cusolverDnHandle_t handle_ = nullptr;
    int elements_ = 0;
    std::unique_ptr<Memory<double>> workspace_;
};

class Hand {
public:
    explicit Hand(const Problem &problem) : failed_(2)
    {
        check(cudaFuncSetAttribute(one_step, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes));
        check(cudaMemset(failed_.get(), 0, 2 * sizeof(unsigned int)));
        for (const unsigned int streams : {1U, 4U, 16U, most_streams})
            forms.push_back(std::make_unique<Launches>(problem, failed_.get(), streams));
        forms.push_back(std::make_unique<Graph>(problem, failed_.get()));
        forms.push_back(std::make_unique<Solver>(problem, reinterpret_cast<int *>(failed_.get() + 1)));
        check(cudaDeviceSynchronize());
    }

private:
    const Memory<unsigned int> failed_; /* nobody looks: a matrix that is no product is found out */

public:
    std::vector<std::unique_ptr<Form>> forms;
};

std::unique_ptr<Hand> hand;
} // namespace

extern "C" const char *cholesky_hand_open(double *matrix, unsigned int n, unsigned int columns)
{
    return ptsched::samples::try_to([&] {
        hand.reset();
        hand = std::make_unique<Hand>(Problem{matrix, n, columns});
    });
}

extern "C" unsigned int cholesky_hand_forms()
{
    return hand ? static_cast<unsigned int>(hand->forms.size()) : 0;
}

extern "C" const char *cholesky_hand_name(unsigned int form)
{
    static std::string name;
    name = hand->forms.at(form)->name();
    return name.c_str();
}

extern "C" CholeskyWay cholesky_hand_way(unsigned int form)
{
    return hand->forms.at(form)->way();
}

extern "C" const char *cholesky_hand_run(unsigned int form)
{
    return ptsched::samples::try_to([&] { hand->forms.at(form)->run(); });
}

extern "C" void cholesky_hand_close()
{
    hand.reset();
}
