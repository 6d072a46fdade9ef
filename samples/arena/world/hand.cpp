// SPDX-License-Identifier: MIT
/*
 * Each scene is brought into the form of an array, in the order in which rays go through it, and copied, while the
 * other is drawn; what never changes is copied once. Pictures come back behind their kernels.
 */
#include "samples/arena/world/problem.hpp"

namespace ptsched::world {

namespace {

using namespace samples::driver;

/* A scene without pointers, in page-locked memory. */
class FlatScene {
public:
    explicit FlatScene(std::size_t most) : nodes_(most) {}
    const FlatNode *nodes() const { return nodes_.data(); }
    unsigned count() const { return count_; }

    void make(const Scene &scene)
    {
        count_ = 0;
        open_.clear();
        for (const Node *node = scene.root(); node; node = node->inside ? node->inside : node->next)
            add(scene, *node);
        close(nullptr);
    }

private:
    void add(const Scene &scene, const Node &node)
    {
        close(&node);
        const auto kind = node.inside ? FlatNode::group
                          : node.mesh ? static_cast<unsigned short>(node.mesh - scene.meshes().data())
                                      : FlatNode::sphere;
        const auto material = static_cast<unsigned short>(node.material ? node.material - scene.materials().data() : 0);
        if (node.inside)
            open_.push_back({count_, node.next});
        nodes_.data()[count_] = {node.bounds, count_ + 1, kind, material};
        count_++;
    }

    /* Groups after which one goes on at @node, which comes now. */
    void close(const Node *node)
    {
        for (; !open_.empty() && open_.back().next == node; open_.pop_back())
            nodes_.data()[open_.back().number].next = count_;
    }

    struct Open {
        unsigned number;
        const Node *next;
    };
    const Pinned<FlatNode> nodes_;
    std::vector<Open> open_;
    unsigned count_ = 0;
};

class ByHand : public Drawing {
    struct Own {
        explicit Own(const Shape &shape)
            : scene(memory, shape.width, shape.height), flat(shape.most_nodes()), pixels(shape.pixels()), frame(1),
              nodes_on_gpu(shape.most_nodes()), frame_on_gpu(1), pixels_on_gpu(shape.pixels())
        {
        }
        std::pmr::unsynchronized_pool_resource memory;
        Scene scene;
        FlatScene flat;
        const Pinned<unsigned> pixels;
        const Pinned<Frame> frame;
        const Memory<FlatNode> nodes_on_gpu;
        const Memory<Frame> frame_on_gpu;
        const Memory<unsigned> pixels_on_gpu;
        const Stream copies; /* beside what the GPU draws */
        const Event copied, drawn, is_back;
    };

public:
    ByHand(Problem &problem, const std::string &module)
        : Drawing(problem, module), kernel_(gpu.module.find("draw_flat"))
    {
    }

protected:
    void make_scenes() override
    {
        for (std::optional<Own> &own : own_)
            own.emplace(problem.shape);
        const Scene &scene = own_[0]->scene;
        std::vector<FlatMesh> meshes;
        for (const Mesh &mesh : scene.meshes())
            meshes.push_back({static_cast<unsigned>(mesh.triangles - scene.triangles().data()), mesh.count});
        meshes_.emplace(meshes.size());
        triangles_.emplace(scene.triangles().size());
        materials_.emplace(scene.materials().size());
        upload(meshes_->data(), meshes.data(), meshes.size(), gpu.stream);
        upload(triangles_->data(), scene.triangles().data(), scene.triangles().size(), gpu.stream);
        upload(materials_->data(), scene.materials().data(), scene.materials().size(), gpu.stream);
        gpu.stream.finish();
    }
    Scene &scene(unsigned which) override { return own_[which]->scene; }

    void draw(unsigned which) override
    {
        Own &own = *own_[which];
        own.flat.make(own.scene);
        *own.frame.data() = own.scene.frame();
        end(samples::Part::serialising);
        upload(own.nodes_on_gpu.data(), own.flat.nodes(), own.flat.count(), own.copies);
        upload(own.frame_on_gpu.data(), own.frame.data(), 1, own.copies);
        own.copied.record(own.copies);
        split.end(samples::Part::copies, own.copies);
        own.copied.hold_back(gpu.stream);
        launch(kernel_, gpu.stream,
               FlatView{own.nodes_on_gpu.data(), meshes_->data(), triangles_->data(), materials_->data(),
                        own.flat.count()},
               static_cast<const Frame *>(own.frame_on_gpu.data()), own.pixels_on_gpu.data());
        own.drawn.record(gpu.stream);
        end(samples::Part::kernels);
        own.drawn.hold_back(own.copies);
        download(own.pixels.data(), own.pixels_on_gpu.data(), problem.shape.pixels(), own.copies);
        own.is_back.record(own.copies);
        split.end(samples::Part::copies, own.copies);
    }

    std::span<const unsigned> picture(unsigned which) override
    {
        own_[which]->is_back.finish();
        return own_[which]->pixels.all();
    }

private:
    const CUfunction kernel_;
    std::optional<Own> own_[2];
    std::optional<Memory<FlatMesh>> meshes_;
    std::optional<Memory<Triangle>> triangles_;
    std::optional<Memory<Material>> materials_;
};

} // namespace

std::unique_ptr<samples::Variant> by_hand(Problem &problem, const std::string &module)
{
    return std::make_unique<ByHand>(problem, module);
}

} // namespace ptsched::world
