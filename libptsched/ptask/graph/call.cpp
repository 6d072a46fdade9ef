// SPDX-License-Identifier: MIT
#include "libptsched/ptask/graph/call.hpp"

namespace ptsched::ptask {

std::size_t CallImpl::known(std::size_t parameter) const
{
    if (parameter < parameters())
        return parameter;
    throw Error("there is no parameter " + std::to_string(parameter) + ": the function has " +
                std::to_string(parameters()) + ", from 0 on, and metadata and conditions are none");
}

std::size_t Call::parameters() const
{
    return impl(*this).parameters();
}

const Arguments &Call::arguments() const
{
    return *impl(*this).given;
}

std::size_t Call::bytes(std::size_t parameter) const
{
    return impl(*this).bytes(parameter);
}

std::size_t Call::records(std::size_t parameter) const
{
    return impl(*this).records(parameter);
}

void Call::end_stream()
{
    impl(*this).signals.end_of_stream = true;
}

void Call::report(const std::string &error)
{
    impl(*this).signals.error = std::make_shared<const std::string>(error);
}

} // namespace ptsched::ptask
