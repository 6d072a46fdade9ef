// SPDX-License-Identifier: MIT
/* Two launches for each step, of all bodies: what depends on all of the step before has nothing to overlap with. */
#include "samples/common/driver.hpp"
#include "samples/tasks/nbody/problem.hpp"

namespace ptsched::nbody {

namespace {

using namespace samples::driver;

class ByHand : public samples::Way {
public:
    ByHand(Problem &problem, const std::string &module)
        : problem_(problem), module_(module), attract_(module_.find("attract")), move_(module_.find("move")),
          bodies_(problem.shape.count), velocities_(problem.shape.count), on_gpu_bodies_(problem.shape.count),
          on_gpu_velocities_(problem.shape.count), accelerations_(problem.shape.count)
    {
    }
    void restore() override { problem_.restore(bodies_.data(), velocities_.data()); }
    void check() override { problem_.check(bodies_.all(), "by hand"); }

    void run() override
    {
        const unsigned count = problem_.shape.count;
        Vector *const bodies = on_gpu_bodies_.data(), *const velocities = on_gpu_velocities_.data();
        upload(bodies, bodies_.data(), count, stream_);
        upload(velocities, velocities_.data(), count, beside_);
        arrived_.record(beside_);
        for (unsigned step = 0; step < problem_.shape.steps; step++) {
            launch(attract_, stream_, {count / threads}, {threads}, static_cast<const Vector *>(bodies),
                   static_cast<const Vector *>(bodies), count, accelerations_.data(), 1U);
            if (step == 0)
                arrived_.hold_back(stream_);
            launch(move_, stream_, {count / threads}, {threads}, bodies, velocities,
                   static_cast<const Vector *>(accelerations_.data()));
        }
        download(bodies_.data(), bodies, count, stream_);
        download(velocities_.data(), velocities, count, stream_);
        stream_.finish();
    }

private:
    Problem &problem_;
    const Context context_;
    const Module module_;
    const CUfunction attract_, move_;
    const Pinned<Vector> bodies_, velocities_;
    const Memory<Vector> on_gpu_bodies_, on_gpu_velocities_, accelerations_;
    const Stream stream_, beside_;
    const Event arrived_;
};

} // namespace

std::unique_ptr<samples::Way> by_hand(Problem &problem, const std::string &module)
{
    return std::make_unique<ByHand>(problem, module);
}

} // namespace ptsched::nbody
