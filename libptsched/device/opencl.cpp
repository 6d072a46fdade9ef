// SPDX-License-Identifier: MIT
/* Devices that OpenCL shows: a buffer for an address, a command queue for a queue, an event for a marker. */
#include "libptsched/device/opencl.hpp"

#include <algorithm>
#include <typeinfo>

namespace ptsched::device {

namespace {

class OpenclMarker final : public Marker {
public:
    OpenclMarker(const OpenclDevice &device, cl_event event) : device_(device), event_(event) {}
    ~OpenclMarker() override { device_.icd.release_event(event_); }
    OpenclMarker(const OpenclMarker &) = delete;
    OpenclMarker &operator=(const OpenclMarker &) = delete;

    bool reached() override
    {
        cl_int status = CL_COMPLETE;
        if (seen())
            return true;
        Icd::check(device_.icd.event_info(event_, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status, nullptr),
                   "clGetEventInfo");
        if (status < 0)
            Icd::fail(status, device_.name());
        if (status == CL_COMPLETE)
            see();
        return seen();
    }

    void wait() override
    {
        if (seen())
            return;
        cl_int result = device_.icd.wait(1, &event_);
        if (!reached())
            Icd::fail(result, "clWaitForEvents");
    }

    const OpenclDevice &device() const { return device_; }
    const cl_event &event() const { return event_; }

private:
    const OpenclDevice &device_;
    const cl_event event_;
};

class OpenclQueue final : public Queue {
public:
    explicit OpenclQueue(const OpenclDevice &device) : device_(device), icd_(device.icd)
    {
        cl_int error;
        queue_ = icd_.create_queue(device.context(), device.id(), 0, &error);
        Icd::check(error, "clCreateCommandQueue");
    }
    ~OpenclQueue() override
    {
        icd_.finish(queue_);
        icd_.release_queue(queue_);
    }
    OpenclQueue(const OpenclQueue &) = delete;
    OpenclQueue &operator=(const OpenclQueue &) = delete;

    void upload(Address to, const void *from, std::size_t bytes) override
    {
        if (bytes)
            Icd::check(icd_.write(queue_, buffer_at(to), CL_FALSE, 0, bytes, from, 0, nullptr, nullptr),
                       "clEnqueueWriteBuffer");
    }

    void download(void *to, Address from, std::size_t bytes) override
    {
        if (bytes)
            Icd::check(icd_.read(queue_, buffer_at(from), CL_FALSE, 0, bytes, to, 0, nullptr, nullptr),
                       "clEnqueueReadBuffer");
    }

    void copy(Address to, Device &source, Address from, std::size_t bytes) override
    {
        if (&source != &device_)
            Queue::copy(to, source, from, bytes);
        if (bytes)
            Icd::check(icd_.copy(queue_, buffer_at(from), buffer_at(to), 0, 0, bytes, 0, nullptr, nullptr),
                       "clEnqueueCopyBuffer");
    }

    void run(const Code &code, const Geometry &geometry, const std::vector<void *> &arguments) override
    {
        static_cast<const OpenclCode &>(code).run(queue_, geometry, arguments);
    }

    void after(const MarkerPtr &marker) override
    {
        const Marker &base = *marker;
        auto *own = typeid(base) == typeid(OpenclMarker) ? static_cast<const OpenclMarker *>(&base) : nullptr;
        if (own && &own->device() == &device_)
            Icd::check(icd_.barrier(queue_, 1, &own->event(), nullptr), "clEnqueueBarrierWithWaitList");
        else
            marker->wait();
    }

    MarkerPtr mark() override
    {
        cl_event event;
        Icd::check(icd_.mark(queue_, 0, nullptr, &event), "clEnqueueMarkerWithWaitList");
        auto marker = std::make_shared<OpenclMarker>(device_, event);
        /* Before it, nothing need begin. */
        Icd::check(icd_.flush(queue_), "clFlush");
        return marker;
    }

    void finish() override { Icd::check(icd_.finish(queue_), "clFinish"); }

private:
    const OpenclDevice &device_;
    const Icd &icd_;
    cl_command_queue queue_;
};

std::vector<cl_device_id> devices_of(const Icd &icd, cl_device_type wanted)
{
    cl_platform_id platforms[16];
    cl_uint platform_count = 0;
    std::vector<cl_device_id> found;

    if (icd.platforms(std::size(platforms), platforms, &platform_count) != CL_SUCCESS)
        return found;
    for (cl_uint p = 0; p < std::min<cl_uint>(platform_count, std::size(platforms)); p++) {
        cl_device_id ids[32];
        cl_uint count = 0;
        if (icd.devices(platforms[p], wanted, std::size(ids), ids, &count) == CL_SUCCESS)
            found.insert(found.end(), ids, ids + std::min<cl_uint>(count, std::size(ids)));
    }
    return found;
}

/* What was made to compute; without such, processors. */
std::vector<Device *> find_devices()
{
    std::vector<Device *> found;
    const Icd *icd = Icd::get();
    if (!icd)
        return found;
    auto ids = devices_of(*icd, CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_ACCELERATOR);
    if (ids.empty())
        ids = devices_of(*icd, CL_DEVICE_TYPE_ALL);
    /* For good: a library may be gone before static objects are. */
    for (cl_device_id id : ids)
        found.push_back(new OpenclDevice(*icd, id));
    return found;
}

} // namespace

OpenclDevice::OpenclDevice(const Icd &icd, cl_device_id id)
    : icd(icd), id_(id), memory_(
                             *this, [this](std::size_t bytes) { return allocate_now(bytes); },
                             [this](Address address) { this->icd.release_buffer(buffer_at(address)); })
{
    char name[256] = "";
    cl_int error;

    Icd::check(icd.device_info(id, CL_DEVICE_NAME, sizeof(name), name, nullptr), "clGetDeviceInfo");
    name_ = name;
    context_ = icd.create_context(nullptr, 1, &id, nullptr, nullptr, &error);
    Icd::check(error, "clCreateContext");
}

/* Nobody tells the memory's clock. */
double OpenclDevice::strength() const
{
    double strength = 1;
    for (cl_device_info factor : {CL_DEVICE_MAX_COMPUTE_UNITS, CL_DEVICE_MAX_CLOCK_FREQUENCY}) {
        cl_uint value = 0;
        if (icd.device_info(id_, factor, sizeof(value), &value, nullptr) == CL_SUCCESS && value)
            strength *= value;
    }
    return strength;
}

std::unique_ptr<Queue> OpenclDevice::make_queue()
{
    return std::make_unique<OpenclQueue>(*this);
}

Queue &OpenclDevice::outgoing()
{
    Guard lock(mutex_);
    if (!outgoing_)
        outgoing_ = make_queue();
    return *outgoing_;
}

Address OpenclDevice::allocate_now(std::size_t bytes)
{
    cl_int error;
    cl_mem buffer = icd.create_buffer(context_, CL_MEM_READ_WRITE, bytes, nullptr, &error);
    if (error == CL_MEM_OBJECT_ALLOCATION_FAILURE || error == CL_OUT_OF_RESOURCES || error == CL_INVALID_BUFFER_SIZE)
        return 0;
    Icd::check(error, "clCreateBuffer");
    return reinterpret_cast<std::uintptr_t>(buffer);
}

const std::vector<Device *> &opencl_devices()
{
    static const std::vector<Device *> &found = *new std::vector<Device *>(find_devices());
    return found;
}

std::unique_ptr<Code> opencl_code(Device &device, const std::string &source, const std::string &function)
{
    return std::make_unique<OpenclCode>(static_cast<OpenclDevice &>(device), source, function);
}

} // namespace ptsched::device
