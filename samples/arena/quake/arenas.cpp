// SPDX-License-Identifier: MIT
/* The ground is the GPU's until the end; what is said of the source and read of the stations goes back and forth. */
#include "samples/arena/common/handing.hpp"
#include "samples/arena/quake/problem.hpp"

namespace ptsched::quake {

namespace {

class ByArenas : public Shaking {
public:
    ByArenas(Problem &problem, const std::string &module, samples::Handing handing)
        : Shaking(problem, module), step_(gpu.module.find("step_linked")), strain_(gpu.module.find("strain_linked")),
          window_(handing), ground_(window_.make("ground", Mesh::bytes(problem.ground))),
          exchange_(window_.make("exchange", sizeof(Source) + sizeof(Report))),
          mesh_(problem.ground, ground_.resource(), exchange_.resource())
    {
    }
    std::map<std::string, double> counts() const override { return window_.counts(); }

protected:
    const Mesh &mesh() const override { return mesh_; }

    void begin() override
    {
        window_.to_gpu(ground_);
        end(samples::Part::copies);
    }

    void shake(unsigned first) override
    {
        window_.to_gpu(exchange_);
        end(samples::Part::copies);
        launch(step_, strain_, Linked{mesh_.nodes.data(), mesh_.elements.data(), mesh_.source}, first,
               &mesh_.report->strain);
        gpu.stream.finish();
        end(samples::Part::kernels);
        window_.to_host(exchange_, {samples::range_of(std::span(mesh_.report, 1))});
        end(samples::Part::copies);
    }

    void finish() override
    {
        window_.to_host(ground_, {samples::range_of(mesh_.motions)});
        end(samples::Part::copies);
    }

private:
    const CUfunction step_, strain_;
    samples::HandedWindow window_;
    arena::Arena ground_, exchange_;
    const Mesh mesh_;
};

} // namespace

std::unique_ptr<samples::Variant> by_arenas(Problem &problem, const std::string &module, samples::Handing handing)
{
    return std::make_unique<ByArenas>(problem, module, handing);
}

} // namespace ptsched::quake
