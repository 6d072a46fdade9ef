// SPDX-License-Identifier: MIT
/*
 * Forms in which cuBLAS has many small products: one by one in some streams, batched by pointers or by stride, and
 * each of these as a graph. In single precision without TF32, as ours.
 */
#include "samples/common/check.hpp"
#include "samples/common/try_to.hpp"
#include "samples/pool/gemm64/hand.h"

#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr int size = 64;
constexpr long long int elements = size * size;
constexpr unsigned most_streams = 32;
/* What cuBLAS recommends for this generation. */
constexpr std::size_t workspace_bytes = std::size_t{32} << 20;

using ptsched::samples::check;

/* With a handle of its own, so that nothing is set between calls. */
class Lane {
public:
    Lane()
    {
        check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        check(cublasCreate(&handle));
        check(cudaMalloc(&workspace_, workspace_bytes));
        check(cublasSetStream(handle, stream));
        check(cublasSetWorkspace(handle, workspace_, workspace_bytes));
        check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    }
    ~Lane()
    {
        cublasDestroy(handle);
        cudaEventDestroy(event);
        cudaStreamDestroy(stream);
        cudaFree(workspace_);
    }
    Lane(const Lane &) = delete;
    Lane &operator=(const Lane &) = delete;

    cudaStream_t stream = nullptr;
    cublasHandle_t handle = nullptr;
    cudaEvent_t event = nullptr;

private:
    void *workspace_ = nullptr;
};

/* cuBLAS has matrices by columns: by rows, it is the product of the others the other way round. */
template <typename T> class Calls;
template <> class Calls<float> {
public:
    static constexpr auto one = cublasSgemm;
    static constexpr auto batched = cublasSgemmBatched;
    static constexpr auto strided = cublasSgemmStridedBatched;
};
template <> class Calls<double> {
public:
    static constexpr auto one = cublasDgemm;
    static constexpr auto batched = cublasDgemmBatched;
    static constexpr auto strided = cublasDgemmStridedBatched;
};

class Products {
public:
    virtual ~Products() = default;
    virtual void one(Lane &lane, unsigned product) = 0;
    virtual void batched(Lane &lane) = 0;
    virtual void strided(Lane &lane) = 0;
};

template <typename T> class ProductsOf : public Products {
public:
    explicit ProductsOf(const Gemm64Products &all)
        : a_(static_cast<const T *>(all.a)), b_(static_cast<const T *>(all.b)), c_(static_cast<T *>(all.c)),
          count_(static_cast<int>(all.count))
    {
        std::vector<const T *> pointers;
        for (const T *first : {a_, b_, static_cast<const T *>(c_)})
            for (unsigned i = 0; i < all.count; i++)
                pointers.push_back(first + i * elements);
        check(cudaMalloc(&pointers_, pointers.size() * sizeof(T *)));
        check(cudaMemcpy(pointers_, pointers.data(), pointers.size() * sizeof(T *), cudaMemcpyHostToDevice));
    }
    ~ProductsOf() override { cudaFree(pointers_); }

    void one(Lane &lane, unsigned product) override
    {
        const long long int at = product * elements;
        check(Calls<T>::one(lane.handle, CUBLAS_OP_N, CUBLAS_OP_N, size, size, size, &unit_, b_ + at, size, a_ + at,
                            size, &none_, c_ + at, size));
    }
    void batched(Lane &lane) override
    {
        check(Calls<T>::batched(lane.handle, CUBLAS_OP_N, CUBLAS_OP_N, size, size, size, &unit_, pointers_ + count_,
                                size, pointers_, size, &none_, const_cast<T **>(pointers_ + 2 * count_), size, count_));
    }
    void strided(Lane &lane) override
    {
        check(Calls<T>::strided(lane.handle, CUBLAS_OP_N, CUBLAS_OP_N, size, size, size, &unit_, b_, size, elements, a_,
                                size, elements, &none_, c_, size, elements, count_));
    }

private:
    const T *const a_, *const b_;
    T *const c_;
    const int count_;
    const T unit_ = 1, none_ = 0;
    const T **pointers_ = nullptr;
};

class Graph {
public:
    Graph(Lane &lane, const std::function<void()> &work)
    {
        cudaGraph_t graph;
        check(cudaStreamBeginCapture(lane.stream, cudaStreamCaptureModeRelaxed));
        work();
        check(cudaStreamEndCapture(lane.stream, &graph));
        const cudaError_t error = cudaGraphInstantiate(&graph_, graph, 0);
        cudaGraphDestroy(graph);
        check(error);
        check(cudaGraphUpload(graph_, lane.stream));
    }
    ~Graph() { cudaGraphExecDestroy(graph_); }
    Graph(const Graph &) = delete;
    Graph &operator=(const Graph &) = delete;
    void launch(Lane &lane) const { check(cudaGraphLaunch(graph_, lane.stream)); }

private:
    cudaGraphExec_t graph_ = nullptr;
};

class Hand {
public:
    explicit Hand(const Gemm64Products &all)
        : count_(all.count), lanes_(most_streams),
          products_(all.is_double ? std::unique_ptr<Products>(std::make_unique<ProductsOf<double>>(all))
                                  : std::make_unique<ProductsOf<float>>(all))
    {
        for (unsigned streams = 1; streams <= most_streams; streams *= 2)
            add_one_by_one(streams);
        add("batched", [this](Lane &lane) { products_->batched(lane); });
        add("strided batched", [this](Lane &lane) { products_->strided(lane); });
        check(cudaDeviceSynchronize());
    }

    struct Form {
        std::string name;
        std::function<void(unsigned times)> run;
    };
    std::vector<Form> forms; /* each has run once before it becomes a graph, so that nothing is loaded then */

private:
    void one_by_one(unsigned streams)
    {
        for (unsigned i = 0; i < count_; i++)
            products_->one(lanes_[i % streams], i);
    }

    void finish(unsigned streams)
    {
        for (unsigned i = 0; i < streams; i++)
            check(cudaStreamSynchronize(lanes_[i].stream));
    }

    void add_one_by_one(unsigned streams)
    {
        const std::string name = "one by one in " + std::to_string(streams) + (streams > 1 ? " streams" : " stream");
        forms.push_back({name, [=, this](unsigned times) {
                             for (unsigned i = 0; i < times; i++)
                                 one_by_one(streams);
                             finish(streams);
                         }});
        forms.back().run(1);
        /* Begins and ends in the first stream. */
        add_graph(name, [=, this] {
            check(cudaEventRecord(lanes_[0].event, lanes_[0].stream));
            for (unsigned i = 1; i < streams; i++)
                check(cudaStreamWaitEvent(lanes_[i].stream, lanes_[0].event));
            one_by_one(streams);
            for (unsigned i = 1; i < streams; i++) {
                check(cudaEventRecord(lanes_[i].event, lanes_[i].stream));
                check(cudaStreamWaitEvent(lanes_[0].stream, lanes_[i].event));
            }
        });
    }

    /* In one stream, and, which matters where there are several batches, in four by turns. */
    void add(const std::string &name, const std::function<void(Lane &)> &batch)
    {
        for (const unsigned streams : {1U, 4U})
            forms.push_back({name + (streams > 1 ? ", in 4 streams by turns" : ""), [=, this](unsigned times) {
                                 for (unsigned i = 0; i < times; i++)
                                     batch(lanes_[i % streams]);
                                 finish(times < streams ? times : streams);
                             }});
        forms.back().run(1);
        add_graph(name, [=, this] { batch(lanes_[0]); });
    }

    void add_graph(const std::string &name, const std::function<void()> &work)
    {
        const auto graph = std::make_shared<Graph>(lanes_[0], work);
        forms.push_back({name + ", as a graph", [=, this](unsigned times) {
                             for (unsigned i = 0; i < times; i++)
                                 graph->launch(lanes_[0]);
                             finish(1);
                         }});
    }

    const unsigned count_;
    std::vector<Lane> lanes_;
    const std::unique_ptr<Products> products_;
};

std::unique_ptr<Hand> hand;
} // namespace

extern "C" const char *gemm64_hand_open(const Gemm64Products *products)
{
    return ptsched::samples::try_to([&] {
        hand.reset();
        hand = std::make_unique<Hand>(*products);
    });
}

extern "C" unsigned gemm64_hand_forms()
{
    return hand ? static_cast<unsigned>(hand->forms.size()) : 0;
}

extern "C" const char *gemm64_hand_name(unsigned form)
{
    return hand->forms.at(form).name.c_str();
}

extern "C" const char *gemm64_hand_run(unsigned form, unsigned times)
{
    return ptsched::samples::try_to([&] { hand->forms.at(form).run(times); });
}

extern "C" void gemm64_hand_close()
{
    hand.reset();
}
