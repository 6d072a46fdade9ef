// SPDX-License-Identifier: MIT
/* The driver moves what is touched; pointers are valid on both sides. */
#include "samples/arena/world/problem.hpp"

namespace ptsched::world {

namespace {

class Managed : public Drawing {
    struct Own {
        explicit Own(const Shape &shape) : block(shape.bytes()), scene(memory, shape.width, shape.height) {}
        samples::ManagedMemory block;
        std::pmr::unsynchronized_pool_resource memory{&block};
        Scene scene;
        samples::driver::Event drawn;
    };

public:
    Managed(Problem &problem, const std::string &module)
        : Drawing(problem, module), kernel_(gpu.module.find("draw_linked"))
    {
    }

protected:
    void make_scenes() override
    {
        for (std::optional<Own> &own : own_)
            own.emplace(problem.shape);
    }
    Scene &scene(unsigned which) override { return own_[which]->scene; }

    void draw(unsigned which) override
    {
        const Scene &scene = own_[which]->scene;
        launch(kernel_, gpu.stream, LinkedView{scene.root()}, static_cast<const Frame *>(&scene.frame()),
               scene.pixels().data());
        own_[which]->drawn.record(gpu.stream);
        end(samples::Part::kernels);
    }

    std::span<const unsigned> picture(unsigned which) override
    {
        own_[which]->drawn.finish();
        return own_[which]->scene.pixels();
    }

private:
    const CUfunction kernel_;
    std::optional<Own> own_[2];
};

} // namespace

std::unique_ptr<samples::Variant> managed(Problem &problem, const std::string &module)
{
    return std::make_unique<Managed>(problem, module);
}

} // namespace ptsched::world
