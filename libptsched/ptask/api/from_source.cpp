// SPDX-License-Identifier: MIT
/* Tasks whose kernels are compiled when the graph is made. */
#include "libptsched/ptask/api/graph.hpp"
#include "libptsched/ptask/devices/device_choice.hpp"
#include "libptsched/ptask/graph/parameters.hpp"
#include "libptsched/ptask/run/scheduler.hpp"

namespace ptsched::ptask {

Task &Graph::cuda_source(const std::string &name, const Source &source, const std::vector<PortOptions> &ports)
{
    const device::CudaSource text{source.text, source.options, source.headers};
    auto make = [&](device::Device &gpu) {
        return device::cuda_code_from_source(gpu, text, source.function, module_for(ports));
    };
    return kernel(name, {impl_->gpus_for(name), make, source.function, {}, source.geometry}, ports);
}

Task &Graph::opencl(const std::string &name, const Source &source, const std::vector<PortOptions> &ports)
{
    if (device::opencl_devices().empty())
        throw Error("task " + name + " needs a device of OpenCL: there is none, or no libOpenCL.so.1 (Debian: " +
                    "ocl-icd-libopencl1, and pocl-opencl-icd for the processor)");
    std::vector<device::Device *> devices;
    try {
        devices = chosen_opencl(device::opencl_devices(), impl_->device_names_);
    } catch (const Error &error) {
        throw Error("task " + name + ": " + error.what());
    }
    auto make = [&](device::Device &device) { return device::opencl_code(device, source.text, source.function); };
    return kernel(name, {devices, make, source.function, source.text, source.geometry}, ports);
}

} // namespace ptsched::ptask
