/* SPDX-License-Identifier: MIT */
/* Programs for CUDA GPUs: a graph with a node for each step, and what the driver made of it. */
#ifndef PTSCHED_DEVICE_CUDA_PROGRAM_HPP
#define PTSCHED_DEVICE_CUDA_PROGRAM_HPP

#include "libptsched/device/cuda.hpp"

namespace ptsched::device {

class CudaProgram final : public Program {
public:
    CudaProgram(CudaDevice &device, const std::vector<ProgramStep> &steps);
    ~CudaProgram() override;
    CudaProgram(const CudaProgram &) = delete;
    CudaProgram &operator=(const CudaProgram &) = delete;

    void set_kernel(std::size_t step, const std::vector<void *> &arguments) override;
    void set_copy(std::size_t step, Address to, Address from) override;
    void set_pieces(std::size_t step, const std::vector<Piece> &pieces) override;
    std::shared_ptr<const void> renew_pieces() override;
    /* The device's context is current, as for all calls of a queue's. */
    void launch(CUstream stream);
    void signal(std::size_t step, CUstream stream);

private:
    struct Node {
        CUgraphNode handle{};
        CUDA_KERNEL_NODE_PARAMS kernel{};
        CUDA_MEMCPY3D copy{};
        Address to{}, from{}; /* its ends */
        std::size_t first_piece{}, piece_count{};
        CUevent event{};
    };

    /*
     * Entries of all its nodes, where the host writes and the device reads them: a node that stays as it is costs a
     * launch less than one that has changed.
     */
    struct Pieces {
        explicit Pieces(std::size_t count);
        ~Pieces();
        Pieces(const Pieces &) = delete;
        Pieces &operator=(const Pieces &) = delete;
        pieces::Entry *at(std::size_t i) const;

        const std::size_t count;
        const Address address; /* of the host device's memory */
    };

    void add(const ProgramStep &step);
    void add_kernel(Node &node, const std::vector<CUgraphNode> &after, const std::vector<void *> &arguments);
    void add_copy(Node &node, const std::vector<CUgraphNode> &after, const ProgramStep &step);
    void add_pieces(Node &node, const std::vector<CUgraphNode> &after, const ProgramStep &step);
    void add_wait(Node &node, const std::vector<CUgraphNode> &after);
    void destroy();

    CudaDevice &device_;
    std::vector<Node> nodes_; /* by step */
    std::shared_ptr<const Pieces> pieces_;
    std::size_t pieces_added_ = 0;
    CUgraph graph_{}; /* its nodes name those of what was made of it */
    CUgraphExec exec_{};
    bool uploaded_ = false;
};

} // namespace ptsched::device

#endif /* PTSCHED_DEVICE_CUDA_PROGRAM_HPP */
