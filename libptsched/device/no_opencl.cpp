// SPDX-License-Identifier: MIT
/* Where OpenCL's headers were not there when this was built. */
#include <ptsched/device/device.hpp>

namespace ptsched::device {

const std::vector<Device *> &opencl_devices()
{
    static const std::vector<Device *> none;
    return none;
}

std::unique_ptr<Code> opencl_code(Device &, const std::string &, const std::string &function)
{
    throw Error("kernel " + function + ": this was built without OpenCL's headers (Debian: opencl-headers)");
}

} // namespace ptsched::device
