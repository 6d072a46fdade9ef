// SPDX-License-Identifier: MIT
/* The C interface: what a function of the host has in a call. */
#include "libptsched/ptask/api/c_error.hpp"
#include <ptsched/ptask.h>

using namespace ptsched::ptask;

namespace {

Call *call_of(ptask_call *call)
{
    return reinterpret_cast<Call *>(call);
}

/* Null unless it has that many. */
const Call *call_with(const ptask_call *call, std::size_t parameter)
{
    const auto *found = reinterpret_cast<const Call *>(call);
    return found && parameter < found->parameters() ? found : nullptr;
}

const StreamCall *stream_call_of(const ptask_stream_call *call)
{
    return reinterpret_cast<const StreamCall *>(call);
}

/* Null, and the text of an error, where there is none. */
template <typename T, typename AnyCall> T *address_of(const AnyCall *call, std::size_t parameter)
{
    T *address = nullptr;
    attempt([&] {
        address = needed(call, "call").template at<T>(parameter);
        return 0;
    });
    return address;
}

} // namespace

const void *ptask_call_data(const struct ptask_call *call, std::size_t parameter)
{
    const Call *found = call_with(call, parameter);
    return found ? found->at(parameter) : nullptr;
}

void *ptask_call_output(const struct ptask_call *call, std::size_t parameter)
{
    return address_of<void>(reinterpret_cast<const Call *>(call), parameter);
}

void *ptask_stream_call_stream(const struct ptask_stream_call *call)
{
    return call ? stream_call_of(call)->stream() : nullptr;
}

int ptask_stream_call_device(const struct ptask_stream_call *call)
{
    return call ? stream_call_of(call)->device() : -1;
}

const void *ptask_stream_call_data(const struct ptask_stream_call *call, std::size_t parameter)
{
    return address_of<const void>(stream_call_of(call), parameter);
}

void *ptask_stream_call_output(const struct ptask_stream_call *call, std::size_t parameter)
{
    return address_of<void>(stream_call_of(call), parameter);
}

std::size_t ptask_stream_call_bytes(const struct ptask_stream_call *call, std::size_t parameter)
{
    return call && parameter < stream_call_of(call)->parameters() ? stream_call_of(call)->bytes(parameter) : 0;
}

std::size_t ptask_stream_call_records(const struct ptask_stream_call *call, std::size_t parameter)
{
    return call && parameter < stream_call_of(call)->parameters() ? stream_call_of(call)->records(parameter) : 0;
}

std::size_t ptask_call_bytes(const struct ptask_call *call, std::size_t parameter)
{
    const Call *found = call_with(call, parameter);
    return found ? found->bytes(parameter) : 0;
}

void ptask_call_end_stream(struct ptask_call *call)
{
    if (call)
        call_of(call)->end_stream();
}

int ptask_call_report(struct ptask_call *call, const char *error)
{
    return attempt([&] {
        needed(call_of(call), "call").report(&needed(error, "error"));
        return 0;
    });
}

std::size_t ptask_call_records(const struct ptask_call *call, std::size_t parameter)
{
    const Call *found = call_with(call, parameter);
    return found ? found->records(parameter) : 0;
}
