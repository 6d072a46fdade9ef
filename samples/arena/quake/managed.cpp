// SPDX-License-Identifier: MIT
/* The driver moves what is touched; pointers are valid on both sides. */
#include "samples/arena/quake/problem.hpp"

namespace ptsched::quake {

namespace {

class Managed : public Shaking {
public:
    Managed(Problem &problem, const std::string &module)
        : Shaking(problem, module), step_(gpu.module.find("step_linked")), strain_(gpu.module.find("strain_linked")),
          memory_(Mesh::bytes(problem.ground)), mesh_(problem.ground, memory_, memory_)
    {
    }

protected:
    const Mesh &mesh() const override { return mesh_; }
    void begin() override {}

    void shake(unsigned first) override
    {
        launch(step_, strain_, Linked{mesh_.nodes.data(), mesh_.elements.data(), mesh_.source}, first,
               &mesh_.report->strain);
        gpu.stream.finish();
        end(samples::Part::kernels);
    }

    void finish() override {}

private:
    const CUfunction step_, strain_;
    samples::ManagedMemory memory_;
    const Mesh mesh_;
};

} // namespace

std::unique_ptr<samples::Variant> managed(Problem &problem, const std::string &module)
{
    return std::make_unique<Managed>(problem, module);
}

} // namespace ptsched::quake
