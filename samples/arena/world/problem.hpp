/* SPDX-License-Identifier: MIT */
/*
 * A world: the host moves it, and changes one of two scenes, while the GPU draws the other. How bright a picture was
 * says how bright the next but one will be.
 */
#ifndef SAMPLES_ARENA_WORLD_PROBLEM_HPP
#define SAMPLES_ARENA_WORLD_PROBLEM_HPP

#include "samples/arena/common/variants.hpp"
#include "samples/arena/world/scene.hpp"

#include <optional>

namespace ptsched::world {

struct Shape {
    unsigned width, height, swarms, in_each, pictures;
    std::string file; /* where the last picture goes; empty: nowhere */
    /* More than is ever born. */
    std::size_t most_nodes() const { return std::size_t{swarms} * (in_each + 1) + pictures + 2; }
    std::size_t pixels() const { return std::size_t{width} * height; }
    /* Of a scene. */
    std::size_t bytes() const { return most_nodes() * sizeof(Node) + pixels() * sizeof(unsigned) + (1U << 20); }
};

class Problem {
public:
    explicit Problem(Shape shape);
    const Shape shape;
    void check(std::span<const unsigned> picture);
    samples::Accesses accesses() const;

private:
    void compute();
    std::vector<unsigned> expected_;
    bool is_by_host_ = false;
};

/* All but how data comes from one side to the other. */
class Drawing : public samples::Variant {
public:
    Drawing(Problem &problem, const std::string &module) : Variant(module), problem(problem) {}
    void restore() final;
    void run() final;
    void check() final { problem.check(last_); }

protected:
    /* There are two: of memory that is as if it were new. */
    virtual void make_scenes() = 0;
    /* The host has it, until it is drawn. */
    virtual Scene &scene(unsigned which) = 0;
    /* The GPU begins to draw it, when it has drawn the other. */
    virtual void draw(unsigned which) = 0;
    /* Waits for it; the picture is on the host until the scene is drawn again. */
    virtual std::span<const unsigned> picture(unsigned which) = 0;

    template <typename View>
    void launch(CUfunction kernel, CUstream stream, const View &view, const Frame *frame, unsigned *pixels) const
    {
        const auto blocks = [](unsigned count) { return (count + block_side - 1) / block_side; };
        samples::driver::launch(kernel, stream, {blocks(problem.shape.width), blocks(problem.shape.height)},
                                {block_side, block_side}, view, frame, pixels);
    }
    Problem &problem;

private:
    std::optional<Things> things_;
    std::vector<unsigned> last_;
};

std::unique_ptr<samples::Variant> by_hand(Problem &problem, const std::string &module);
std::unique_ptr<samples::Variant> managed(Problem &problem, const std::string &module);
std::unique_ptr<samples::Variant> by_arenas(Problem &problem, const std::string &module, samples::Handing handing);

} // namespace ptsched::world

#endif /* SAMPLES_ARENA_WORLD_PROBLEM_HPP */
