// SPDX-License-Identifier: MIT
#include "libptsched/tasks/seen/output.hpp"

#include <ptsched/base/error.hpp>
#include <ptsched/device/device.hpp>
#include <ptsched/device/log.hpp>

#include <cerrno>
#include <cstring>

namespace ptsched::tasks {

Output::Output(const std::string &option, const std::string &path) : path_(path), file_(std::fopen(path.c_str(), "we"))
{
    if (!file_)
        throw device::Error("tasks: " + option + " is " + path + ", which cannot be written: " + std::strerror(errno));
}

void Output::write(const std::string &text) noexcept
{
    if (file_ && std::fwrite(text.data(), 1, text.size(), file_.get()) != text.size())
        complain(errno);
}

void Output::close() noexcept
{
    if (file_ && std::fclose(file_.release()))
        complain(errno);
}

void Output::complain(int error) noexcept
{
    file_.reset();
    device::log_line("tasks: cannot write to " + path_ + ": " + std::strerror(error));
}

} // namespace ptsched::tasks
