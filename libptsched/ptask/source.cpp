// SPDX-License-Identifier: MIT
// Tasks whose kernels are compiled when the graph is made.
#include "scheduler.hpp"

namespace ptsched::ptask {

Task &Graph::cuda_source(const std::string &name, const Source &source, const std::vector<PortOptions> &ports)
{
    if (device::gpus().empty())
        throw Error("task " + name + " needs a GPU: there is none, or no CUDA driver");
    auto make = [&](device::Device &gpu) { return device::cuda_code_from_source(gpu, source.text, source.function); };
    return kernel(name, {device::gpus(), make, source.function, source.text, source.geometry}, ports);
}

Task &Graph::opencl(const std::string &name, const Source &source, const std::vector<PortOptions> &ports)
{
    if (device::opencl_devices().empty())
        throw Error("task " + name + " needs a device of OpenCL: there is none, or no libOpenCL.so.1 (Debian: " +
                    "ocl-icd-libopencl1, and pocl-opencl-icd for the processor)");
    auto make = [&](device::Device &device) { return device::opencl_code(device, source.text, source.function); };
    return kernel(name, {device::opencl_devices(), make, source.function, source.text, source.geometry}, ports);
}

} // namespace ptsched::ptask
