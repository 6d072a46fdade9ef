// SPDX-License-Identifier: MIT
#include "tools/ptsim/fluid.hpp"

namespace ptsim {

void Fluid::finish(Program &program)
{
    program.served += program.weight * (virtual_ - program.since);
    program.busy = false;
    weight_ -= program.weight;
}

void Fluid::advance(Ns now)
{
    double left = static_cast<double>(now - now_);
    now_ = now;
    while (weight_) {
        while (!finishes_.empty()) {
            const Program &program = programs_[finishes_.top().id];
            if (program.busy && program.finish == finishes_.top().at)
                break;
            finishes_.pop();
        }
        const double weight = static_cast<double>(weight_);
        if (finishes_.empty() || (finishes_.top().at - virtual_) * weight > left) {
            virtual_ += left / weight;
            return;
        }
        left -= (finishes_.top().at - virtual_) * weight;
        virtual_ = finishes_.top().at;
        finish(programs_[finishes_.top().id]);
        finishes_.pop();
    }
}

void Fluid::add(std::uint32_t id, std::uint32_t weight, double work_ns)
{
    Program &program = programs_[id];
    if (!program.busy) {
        program.busy = true;
        program.weight = weight;
        program.since = virtual_;
        program.finish = virtual_;
        weight_ += weight;
    }
    program.finish += work_ns / program.weight;
    if (program.finish < kForever)
        finishes_.push({program.finish, id});
}

double Fluid::service_ns(std::uint32_t id) const
{
    const Program &program = programs_[id];
    return program.served + (program.busy ? program.weight * (virtual_ - program.since) : 0);
}

} // namespace ptsim
