// SPDX-License-Identifier: MIT
/*
 * The GPU gets numbers in place of pointers. All is brought into that form by parts, by all of the host's threads,
 * while the part before is copied; motion and reports come back.
 */
#include "samples/arena/quake/flat.h"
#include "samples/arena/quake/problem.hpp"

#include <array>

namespace ptsched::quake {

namespace {

using namespace samples::driver;

constexpr std::size_t part_bytes = std::size_t{32} << 20, share = std::size_t{1} << 13;

/* Page-locked memory that takes turns with another. */
struct Staging {
    Pinned<std::byte> memory{part_bytes};
    Event copied;
};

class ByHand : public Shaking {
public:
    ByHand(Problem &problem, const std::string &module)
        : Shaking(problem, module), step_(gpu.module.find("step_flat")), strain_(gpu.module.find("strain_flat")),
          mesh_(problem.ground, memory_, pinned_), first_(mesh_.nodes.size() + 1), column_(mesh_.blocks.size()),
          station_(mesh_.nodes.size()), stiffness_(mesh_.blocks.size()), mass_(mesh_.nodes.size()),
          damping_(mesh_.nodes.size()), places_(mesh_.nodes.size()), corners_(mesh_.elements.size()),
          motions_(mesh_.nodes.size()), source_(1), report_(1)
    {
    }

protected:
    const Mesh &mesh() const override { return mesh_; }

    void begin() override
    {
        send_nodes();
        send_blocks();
        send(corners_, mesh_.elements.size(), [this](std::size_t i) {
            Corners made{};
            for (unsigned j = 0; j < 4; j++)
                made.number[j] = number(mesh_.elements[i].corners[j]);
            return made;
        });
        send(motions_, mesh_.motions.size(), [this](std::size_t i) { return mesh_.motions[i]; });
    }

    void shake(unsigned first) override
    {
        upload(source_.data(), mesh_.source, 1, gpu.stream);
        upload(&report_.data()->strain, &mesh_.report->strain, 1, gpu.stream);
        end(samples::Part::copies);
        launch(step_, strain_, flat(), first, &report_.data()->strain);
        end(samples::Part::kernels);
        download(mesh_.report, report_.data(), 1, gpu.stream);
        gpu.stream.finish();
        end(samples::Part::copies);
    }

    void finish() override
    {
        constexpr std::size_t most = part_bytes / sizeof(Motion);
        auto *const staged = reinterpret_cast<Motion *>(staging_[0].memory.data());
        for (std::size_t first = 0; first < mesh_.motions.size(); first += most) {
            const std::size_t count = std::min(most, mesh_.motions.size() - first);
            download(staged, motions_.data() + first, count, gpu.stream);
            gpu.stream.finish();
            end(samples::Part::copies);
            std::copy_n(staged, count, &mesh_.motions[first]);
            end(samples::Part::serialising);
        }
    }

private:
    unsigned number(const Node *node) const { return static_cast<unsigned>(node - mesh_.nodes.data()); }

    void send_nodes()
    {
        const Report &report = *mesh_.report;
        send(station_, mesh_.nodes.size(), [&](std::size_t i) {
            const Vector *const record = mesh_.nodes[i].record;
            return record ? static_cast<unsigned>((record - report.motion[0]) / most_steps) : stations;
        });
        send(mass_, mesh_.nodes.size(), [this](std::size_t i) { return mesh_.nodes[i].mass; });
        send(damping_, mesh_.nodes.size(), [this](std::size_t i) { return mesh_.nodes[i].damping; });
        send(places_, mesh_.nodes.size(), [this](std::size_t i) { return mesh_.nodes[i].place; });
        send(first_, mesh_.nodes.size() + 1, [this](std::size_t i) {
            return static_cast<unsigned>(i < mesh_.nodes.size() ? mesh_.nodes[i].row - mesh_.blocks.data()
                                                                : mesh_.blocks.size());
        });
    }

    void send_blocks()
    {
        send(column_, mesh_.blocks.size(),
             [this](std::size_t i) { return static_cast<unsigned>(mesh_.blocks[i].of - mesh_.motions.data()); });
        send(stiffness_, mesh_.blocks.size(), [this](std::size_t i) {
            Matrix made{};
            std::ranges::copy(mesh_.blocks[i].stiffness, made.begin());
            return made;
        });
    }

    /* To the GPU, what @make makes of each. */
    template <typename T, typename Make> void send(const Memory<T> &to, std::size_t all, const Make &make)
    {
        constexpr std::size_t most = part_bytes / sizeof(T);
        for (std::size_t begin = 0; begin < all; begin += most) {
            const Staging &staging = staging_[turn_++ % staging_.size()];
            const std::size_t size = std::min(most, all - begin);
            T *const staged = reinterpret_cast<T *>(staging.memory.data());
            staging.copied.finish();
            samples::in_parts(size, share, [&](std::size_t first, std::size_t count) {
                for (std::size_t i = first; i < first + count; i++)
                    staged[i] = make(begin + i);
            });
            end(samples::Part::serialising);
            upload(to.data() + begin, staged, size, gpu.stream);
            staging.copied.record(gpu.stream);
            end(samples::Part::copies);
        }
    }

    Flat flat() const
    {
        const auto *const values = reinterpret_cast<const double(*)[9]>(stiffness_.data());
        return {first_.data(),        values,          column_.data(),
                mass_.data(),         damping_.data(), station_.data(),
                places_.data(),       corners_.data(), motions_.data(),
                source_.data()->push, report_.data(),  number(mesh_.source->node)};
    }

    const CUfunction step_, strain_;
    std::pmr::monotonic_buffer_resource memory_{Mesh::bytes(problem.ground)};
    samples::PinnedMemory pinned_{sizeof(Source) + sizeof(Report) + 2 * 4096};
    const Mesh mesh_;
    const Memory<unsigned> first_, column_, station_;
    const Memory<Matrix> stiffness_;
    const Memory<double> mass_, damping_;
    const Memory<Vector> places_;
    const Memory<Corners> corners_;
    const Memory<Motion> motions_;
    const Memory<Source> source_;
    const Memory<Report> report_;
    std::array<Staging, 2> staging_;
    unsigned turn_ = 0;
};

} // namespace

std::unique_ptr<samples::Variant> by_hand(Problem &problem, const std::string &module)
{
    return std::make_unique<ByHand>(problem, module);
}

} // namespace ptsched::quake
