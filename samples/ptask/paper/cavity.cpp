// SPDX-License-Identifier: MIT
/* The electromagnetic field in a box with conducting walls, after Yee: six tasks for each step of time. */
#include "samples/ptask/paper/parameters.h"
#include "samples/ptask/paper/programs.hpp"

#include <array>

namespace ptsched::paper {

namespace {

constexpr float courant = 0.5f; /* of a time step to what light needs for a cell; stable below 1 / sqrt(3) */
constexpr unsigned x_axis = 0, y_axis = 1, z_axis = 2;

using Field = std::vector<float>;

/* The same on the host, cell by cell. */
class Cavity {
public:
    Cavity(unsigned nx, unsigned ny, unsigned nz) : limits_{int(nx), int(ny), int(nz)} {}

    std::size_t cells() const
    {
        return static_cast<std::size_t>(limits_[0]) * static_cast<std::size_t>(limits_[1]) *
               static_cast<std::size_t>(limits_[2]);
    }

    /* h += curl e / 2 where the others are next to it, e -= the like of what is before it. */
    void advance(std::array<Field, 3> &electric, std::array<Field, 3> &magnetic, const Field &current) const
    {
        each_cell([&](int x, int y, int z, std::size_t i) {
            auto ahead = [&](const Field &f, int dx, int dy, int dz) { return at(f, x + dx, y + dy, z + dz) - f[i]; };
            const auto &[ex, ey, ez] = electric;
            magnetic[0][i] += courant * (ahead(ey, 0, 0, 1) - ahead(ez, 0, 1, 0));
            magnetic[1][i] += courant * (ahead(ez, 1, 0, 0) - ahead(ex, 0, 0, 1));
            magnetic[2][i] += courant * (ahead(ex, 0, 1, 0) - ahead(ey, 1, 0, 0));
        });
        each_cell([&](int x, int y, int z, std::size_t i) {
            auto behind = [&](const Field &f, int dx, int dy, int dz) { return f[i] - at(f, x - dx, y - dy, z - dz); };
            const auto &[hx, hy, hz] = magnetic;
            auto &[ex, ey, ez] = electric;
            ex[i] = y && z ? ex[i] + courant * (behind(hz, 0, 1, 0) - behind(hy, 0, 0, 1)) : 0;
            ey[i] = x && z ? ey[i] + courant * (behind(hx, 0, 0, 1) - behind(hz, 1, 0, 0)) : 0;
            ez[i] = (x && y ? ez[i] + courant * (behind(hy, 1, 0, 0) - behind(hx, 0, 1, 0)) : 0) - courant * current[i];
        });
    }

private:
    template <typename Function> void each_cell(Function function) const
    {
        std::size_t i = 0;
        for (int z = 0; z < limits_[2]; z++)
            for (int y = 0; y < limits_[1]; y++)
                for (int x = 0; x < limits_[0]; x++)
                    function(x, y, z, i++);
    }

    float at(const Field &field, int x, int y, int z) const
    {
        if (x < 0 || y < 0 || z < 0 || x >= limits_[0] || y >= limits_[1] || z >= limits_[2])
            return 0;
        return field[static_cast<std::size_t>((z * limits_[1] + y) * limits_[0] + x)];
    }

    std::array<int, 3> limits_;
};

} // namespace

Workload cavity(unsigned length, unsigned nx, unsigned ny, unsigned nz)
{
    Cavity cavity(nx, ny, nz);
    const std::size_t cells = cavity.cells();
    Workload workload;
    std::array<Field, 3> e_start, h_start;
    std::array<ValueId, 3> e{}, h{};
    std::vector<Field> currents;

    for (unsigned axis = 0; axis < 3; axis++) {
        e_start[axis] = noise(cells, axis);
        h_start[axis] = noise(cells, axis + 3);
        e[axis] = workload.input(content_of(e_start[axis]));
        h[axis] = workload.input(content_of(h_start[axis]));
    }
    auto curl = [&](unsigned axis_p, unsigned axis_q, int neighbour) {
        return constant_of(Curl{nx, ny, nz, axis_p, axis_q, neighbour, courant});
    };
    auto h_step = [&](unsigned of, unsigned p, unsigned q) {
        return workload.step("fdtd", over(cells), {h[of], e[p], e[q]}, cells, curl(q, p, 1));
    };
    auto e_step = [&](unsigned of, unsigned p, unsigned q) {
        return workload.step("fdtd", over(cells), {e[of], h[p], h[q]}, cells, curl(q, p, -1));
    };
    for (unsigned time = 0; time < length; time++) {
        h = {h_step(x_axis, y_axis, z_axis), h_step(y_axis, z_axis, x_axis), h_step(z_axis, x_axis, y_axis)};
        currents.push_back(noise(cells, 10 + time));
        ValueId current = workload.input(content_of(currents.back()));
        ValueId driven =
            workload.step("fdtd_driven", over(cells), {e[2], h[1], h[0], current}, cells, curl(x_axis, y_axis, -1));
        e = {e_step(x_axis, z_axis, y_axis), e_step(y_axis, x_axis, z_axis), driven};
    }
    workload.name = "fdtd-len" + std::to_string(length) + "/" + std::to_string(nx) + "x" + std::to_string(ny) + "x" +
                    std::to_string(nz);
    workload.results = {e[0], e[1], e[2], h[0], h[1], h[2]};
    workload.tolerance = 1e-4;
    workload.expected = [=](unsigned) {
        auto electric = e_start, magnetic = h_start;
        for (const Field &current : currents)
            cavity.advance(electric, magnetic, current);
        std::vector<Content> results;
        for (const auto &fields : {electric, magnetic})
            for (const Field &field : fields)
                results.push_back(content_of(field));
        return results;
    };
    return workload;
}

} // namespace ptsched::paper
