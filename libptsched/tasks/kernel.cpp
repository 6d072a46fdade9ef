// SPDX-License-Identifier: MIT
/* What functions that give a GPU work call. */
#include "libptsched/base/lock.hpp"
#include <ptsched/tasks.hpp>

#include <map>
#include <mutex>

namespace ptsched::tasks {

void *Gpu::find(const std::byte *on_host, std::size_t bytes) const
{
    std::string declared;
    for (std::size_t i = 0; i < call_.accesses.size(); i++) {
        const Range &range = call_.accesses[i].range;
        if (covers(range, {const_cast<std::byte *>(on_host), bytes, 1, 0})) {
            const auto offset = static_cast<std::size_t>(on_host - range.begin);
            const std::size_t row = range.rows > 1 ? offset / range.pitch : 0;
            const std::size_t pitch = call_.places[i].pitch ? call_.places[i].pitch : range.pitch;
            return static_cast<std::byte *>(call_.places[i].address) + row * pitch + (offset - row * range.pitch);
        }
        declared +=
            (declared.empty() ? "" : "; ") + std::string(to_string(call_.accesses[i].mode)) + " " + describe(range);
    }
    throw Error("tasks: a task asks for " + describe({const_cast<std::byte *>(on_host), bytes, 1, 0}) +
                ", which it has not declared; it has: " + (declared.empty() ? "nothing" : declared));
}

class Kernel::Codes {
public:
    explicit Codes(Make make) : make_(std::move(make)) {}

    device::Code &of(device::Device &device)
    {
        Guard lock(mutex_);
        std::unique_ptr<device::Code> &code = codes_[&device];
        if (!code)
            code = make_(device);
        return *code;
    }

private:
    const Make make_;
    Mutex mutex_;
    std::map<device::Device *, std::unique_ptr<device::Code>> codes_ PTSCHED_GUARDED_BY(mutex_);
};

Kernel::Kernel(Make make) : codes_(std::make_shared<Codes>(std::move(make))) {}

void Kernel::run(const Gpu &gpu, const device::Geometry &geometry, const std::vector<void *> &arguments) const
{
    gpu.queue().run(codes_->of(gpu.owner()), geometry, arguments);
}

} // namespace ptsched::tasks
