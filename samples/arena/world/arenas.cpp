// SPDX-License-Identifier: MIT
/* Two arenas, each with a scene and its picture: one is the host's while the other is drawn. */
#include "samples/arena/common/handing.hpp"
#include "samples/arena/world/problem.hpp"

namespace ptsched::world {

namespace {

class ByArenas : public Drawing {
    struct Own {
        Own(samples::HandedWindow &window, const Shape &shape)
            : memory(window.make("scene", shape.bytes())), scene(memory.resource(), shape.width, shape.height)
        {
        }
        arena::Arena memory;
        Scene scene;
        samples::driver::Event drawn;
    };

public:
    ByArenas(Problem &problem, const std::string &module, samples::Handing handing)
        : Drawing(problem, module), kernel_(gpu.module.find("draw_linked")), window_(handing)
    {
    }
    std::map<std::string, double> counts() const override { return window_.counts(); }

protected:
    void make_scenes() override
    {
        for (std::optional<Own> &own : own_)
            own.emplace(window_, problem.shape);
    }
    Scene &scene(unsigned which) override { return own_[which]->scene; }

    void draw(unsigned which) override
    {
        Own &own = *own_[which];
        window_.to_gpu(own.memory);
        end(samples::Part::copies);
        launch(kernel_, gpu.stream, LinkedView{own.scene.root()}, static_cast<const Frame *>(&own.scene.frame()),
               own.scene.pixels().data());
        own.drawn.record(gpu.stream);
        end(samples::Part::kernels);
    }

    std::span<const unsigned> picture(unsigned which) override
    {
        Own &own = *own_[which];
        own.drawn.finish();
        end(samples::Part::kernels);
        window_.to_host(own.memory, {samples::range_of(own.scene.pixels())});
        end(samples::Part::copies);
        return own.scene.pixels();
    }

private:
    const CUfunction kernel_;
    samples::HandedWindow window_;
    std::optional<Own> own_[2];
};

} // namespace

std::unique_ptr<samples::Variant> by_arenas(Problem &problem, const std::string &module, samples::Handing handing)
{
    return std::make_unique<ByArenas>(problem, module, handing);
}

} // namespace ptsched::world
