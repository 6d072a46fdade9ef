// SPDX-License-Identifier: MIT
/* Queues of GPUs: a stream for a queue, an event for a marker. */
#include "libptsched/device/cuda.hpp"
#include "libptsched/device/cuda_code.hpp"
#include "libptsched/device/cuda_program.hpp"
#include "libptsched/device/recycled.hpp"

#include <algorithm>
#include <typeinfo>

namespace ptsched::device {

namespace {

/* It goes when nobody waits for it any more, which may be after its queue; unless it is the program's. */
struct Stream {
    /* With the driver's number of a priority, if it is to have one. */
    explicit Stream(CudaDevice &its_device, std::optional<int> priority = {});
    Stream(CudaDevice &its_device, CUstream programs) : device(its_device), handle(programs), is_own(false) {}
    ~Stream();
    Stream(const Stream &) = delete;
    Stream &operator=(const Stream &) = delete;

    CudaDevice &device;
    CUstream handle{};
    const bool is_own = true;
};
using StreamPtr = std::shared_ptr<const Stream>;

Stream::Stream(CudaDevice &its_device, std::optional<int> priority) : device(its_device)
{
    const Driver &driver = device.driver;
    Entered entered(device);
    if (priority)
        driver.check(driver.stream_create_priority(&handle, CU_STREAM_NON_BLOCKING, *priority),
                     "cuStreamCreateWithPriority");
    else
        driver.check(driver.stream_create(&handle, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
}

Stream::~Stream()
{
    if (!is_own)
        return;
    Entered entered(device);
    device.driver.stream_destroy(handle);
}

/*
 * An event, which is recorded when it is needed. Until then the marker is of all work that its stream has, so those of
 * several runs can be one: recording takes the driver's time and the GPU's. Who only waits needs none.
 */
class CudaMarker final : public Marker {
public:
    CudaMarker(CudaDevice &device, const StreamPtr &stream) : device_(device), stream_(stream) {}
    ~CudaMarker() override;
    CudaMarker(const CudaMarker &) = delete;
    CudaMarker &operator=(const CudaMarker &) = delete;

    bool reached() override;
    void wait() override;
    void *native_event() override { return event(); }
    /* Records it unless that was done, or somebody has waited for all of the stream: false. */
    bool record();
    /* Whether it will come after all that its stream has now. */
    bool is_open() const { return open_.load(); }
    /* The stream has done what it had, or has failed. */
    void close(CUresult result);
    /* Null if there need not be one any more. */
    CUevent event();

private:
    void check(CUresult result) const { device_.driver.check(result, device_.name().c_str()); }
    StreamPtr leave_open_no_more();

    CudaDevice &device_;
    /* Is changed before the event is recorded: whoever has given work and finds it open is in time. */
    std::atomic<bool> open_{true};
    SmallMutex mutex_;
    StreamPtr stream_ PTSCHED_GUARDED_BY(mutex_); /* where it is to be recorded yet */
    /* Written with the lock, and no more when there is no stream: then they are read without it. */
    CUevent event_ = nullptr;
    CUresult result_ = CUDA_SUCCESS;
};

CudaMarker::~CudaMarker()
{
    if (event_)
        device_.events.give(event_);
}

bool CudaMarker::record()
{
    StreamPtr stream;
    Guard lock(mutex_);
    if (!stream_)
        return false;
    Entered entered(device_);
    event_ = device_.events.take();
    open_.store(false);
    stream = std::move(stream_);
    result_ = device_.driver.event_record(event_, stream->handle);
    return true;
}

void CudaMarker::close(CUresult result)
{
    StreamPtr stream;
    Guard lock(mutex_);
    open_.store(false);
    stream = std::move(stream_);
    if (!stream)
        return;
    result_ = result;
    if (result == CUDA_SUCCESS)
        see();
}

CUevent CudaMarker::event()
{
    record();
    check(result_);
    return event_;
}

bool CudaMarker::reached()
{
    if (seen())
        return true;
    /* What was recorded just now is not worth a question. */
    if (record())
        return false;
    check(result_);
    /* Somebody has waited for it just now. */
    if (!event_)
        return true;
    CUresult state = device_.driver.event_query(event_);
    if (state == CUDA_ERROR_NOT_READY)
        return false;
    check(state);
    see();
    return true;
}

/* Null if there is an event, or nothing, to wait for. */
StreamPtr CudaMarker::leave_open_no_more()
{
    Guard lock(mutex_);
    open_.store(false);
    return stream_;
}

/* Others may have it recorded meanwhile. */
void CudaMarker::wait()
{
    if (seen())
        return;
    Entered entered(device_);
    if (const StreamPtr stream = leave_open_no_more()) {
        const CUresult result = device_.driver.stream_synchronize(stream->handle);
        close(result);
        check(result);
    } else {
        check(result_);
        if (event_)
            check(device_.driver.event_synchronize(event_));
    }
    see();
}

class CudaWatch final : public Watch {
public:
    CudaWatch(CudaDevice &device, CUstream stream) : device_(device), stream_(stream), begin_(device), end_(device)
    {
        record(begin_);
    }
    void stop() override
    {
        Entered entered(device_);
        record(end_);
    }
    double seconds() override;

private:
    struct Event {
        explicit Event(CudaDevice &its_device) : device(its_device), event(device.timed_events.take()) {}
        ~Event() { device.timed_events.give(event); }
        Event(const Event &) = delete;
        Event &operator=(const Event &) = delete;
        CudaDevice &device;
        const CUevent event;
    };

    void record(const Event &point)
    {
        device_.driver.check(device_.driver.event_record(point.event, stream_), "cuEventRecord");
    }

    CudaDevice &device_;
    const CUstream stream_;
    Event begin_, end_;
};

double CudaWatch::seconds()
{
    float milliseconds = 0;
    Entered entered(device_);
    if (device_.driver.elapsed(&milliseconds, begin_.event, end_.event) != CUDA_SUCCESS)
        return 0;
    return static_cast<double>(milliseconds) / 1e3;
}

/* How much of the host's memory there is from an address to the end of what it was registered, or allocated, with. */
std::optional<std::size_t> registered_from(const Driver &driver, const std::byte *host)
{
    CUdeviceptr begin = 0;
    std::size_t bytes = 0;
    const auto address = static_cast<CUdeviceptr>(reinterpret_cast<std::uintptr_t>(host));
    const auto get = driver.pointer_attribute;
    if (!get || get(&begin, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, address) != CUDA_SUCCESS ||
        get(&bytes, CU_POINTER_ATTRIBUTE_RANGE_SIZE, address) != CUDA_SUCCESS)
        return {};
    return begin + bytes - address;
}

/*
 * The driver refuses to copy what begins in registered memory and ends beyond it, be that registered, too. It is rare:
 * it is asked where the borders are only when it has refused. @copy: gets a place and a length.
 */
template <typename Copy>
CUresult copy_by_registrations(const Driver &driver, const std::byte *host, std::size_t bytes, Copy copy)
{
    CUresult result = copy(0, bytes);
    if (result != CUDA_ERROR_INVALID_VALUE || registered_from(driver, host).value_or(bytes) >= bytes)
        return result;
    for (std::size_t at = 0; at < bytes;) {
        const std::size_t left = bytes - at;
        const std::size_t part = std::min(left, registered_from(driver, host + at).value_or(left));
        result = copy(at, part);
        if (result != CUDA_SUCCESS)
            return result;
        at += part;
    }
    return result;
}

class CudaQueue final : public Queue {
public:
    CudaQueue(CudaDevice &device, StreamPtr stream) : device_(device), stream_(std::move(stream)) {}
    ~CudaQueue() override;
    CudaQueue(const CudaQueue &) = delete;
    CudaQueue &operator=(const CudaQueue &) = delete;

    void upload(Address to, const void *from, std::size_t bytes) override;
    void download(void *to, Address from, std::size_t bytes) override;
    void copy(Address to, Device &source, Address from, std::size_t bytes) override;
    void run(const Code &code, const Geometry &geometry, const std::vector<void *> &arguments) override;
    void run_cooperative(const Code &code, const Geometry &geometry, const std::vector<void *> &arguments) override;
    void run(Program &program) override;
    void signal(Program &program, std::size_t step) override;
    void after(const MarkerPtr &marker) override;
    MarkerPtr mark() override;
    MarkerPtr mark_for_later() override;
    void finish() override;
    void *native_stream() const override { return handle(); }
    void after_native(void *event) override;
    std::unique_ptr<Watch> watch() override;

private:
    using OpenMarker = std::shared_ptr<CudaMarker>;
    OpenMarker make_marker() { return std::allocate_shared<CudaMarker>(Recycled<CudaMarker>(), device_, stream_); }
    CUstream handle() const { return stream_->handle; }

    CudaDevice &device_;
    const StreamPtr stream_;
    SmallMutex mutex_;
    OpenMarker last_ PTSCHED_GUARDED_BY(mutex_); /* that was made for later, and may be open */
};

CudaQueue::~CudaQueue()
{
    Entered entered(device_);
    CUresult result = device_.driver.stream_synchronize(handle());
    if (last_)
        last_->close(result);
}

void CudaQueue::upload(Address to, const void *from, std::size_t bytes)
{
    Entered entered(device_);
    const auto *begin = static_cast<const std::byte *>(from);
    const CUresult result = copy_by_registrations(device_.driver, begin, bytes, [&](std::size_t at, std::size_t part) {
        return device_.driver.upload(to + at, begin + at, part, handle());
    });
    device_.driver.check(result, "cuMemcpyHtoDAsync");
}

void CudaQueue::download(void *to, Address from, std::size_t bytes)
{
    Entered entered(device_);
    auto *begin = static_cast<std::byte *>(to);
    const CUresult result = copy_by_registrations(device_.driver, begin, bytes, [&](std::size_t at, std::size_t part) {
        return device_.driver.download(begin + at, from + at, part, handle());
    });
    device_.driver.check(result, "cuMemcpyDtoHAsync");
}

void CudaQueue::copy(Address to, Device &source, Address from, std::size_t bytes)
{
    Entered entered(device_);
    if (&source == &device_) {
        device_.driver.check(device_.driver.copy(to, from, bytes, handle()), "cuMemcpyDtoDAsync");
        return;
    }
    auto &other = dynamic_cast<CudaDevice &>(source);
    device_.driver.check(device_.driver.copy_peer(to, device_.context(), from, other.context(), bytes, handle()),
                         "cuMemcpyPeerAsync");
}

void CudaQueue::run(const Code &code, const Geometry &g, const std::vector<void *> &arguments)
{
    Entered entered(device_);
    static_cast<const CudaWork &>(code).give(handle(), g, arguments);
}

void CudaQueue::run_cooperative(const Code &code, const Geometry &g, const std::vector<void *> &arguments)
{
    Entered entered(device_);
    static_cast<const CudaWork &>(code).give_cooperative(handle(), g, arguments);
}

void CudaQueue::run(Program &program)
{
    Entered entered(device_);
    static_cast<CudaProgram &>(program).launch(handle());
}

void CudaQueue::signal(Program &program, std::size_t step)
{
    Entered entered(device_);
    static_cast<CudaProgram &>(program).signal(step, handle());
}

void CudaQueue::after(const MarkerPtr &marker)
{
    Marker &base = *marker;
    if (typeid(base) != typeid(CudaMarker)) {
        marker->wait();
        return;
    }
    Entered entered(device_);
    CUevent event = static_cast<CudaMarker &>(base).event();
    if (event)
        device_.driver.check(device_.driver.stream_wait(handle(), event, 0), "cuStreamWaitEvent");
}

void CudaQueue::after_native(void *event)
{
    if (!event)
        throw Error("a queue of " + device_.name() + " is to wait for an event that is null");
    Entered entered(device_);
    device_.driver.check(device_.driver.stream_wait(handle(), static_cast<CUevent>(event), 0), "cuStreamWaitEvent");
}

/* After the work that it is for was given. */
MarkerPtr CudaQueue::mark_for_later()
{
    Guard lock(mutex_);
    if (!last_ || !last_->is_open())
        last_ = make_marker();
    return last_;
}

/* An open one serves as well. */
MarkerPtr CudaQueue::mark()
{
    OpenMarker marker;
    {
        Guard lock(mutex_);
        if (last_ && last_->is_open())
            marker = last_;
    }
    if (!marker)
        marker = make_marker();
    marker->event();
    return marker;
}

void CudaQueue::finish()
{
    Entered entered(device_);
    device_.driver.check(device_.driver.stream_synchronize(handle()), "cuStreamSynchronize");
}

std::unique_ptr<Watch> CudaQueue::watch()
{
    if (!device_.driver.elapsed)
        return nullptr;
    Entered entered(device_);
    return std::make_unique<CudaWatch>(device_, handle());
}

} // namespace

std::unique_ptr<Queue> CudaDevice::make_queue()
{
    return std::make_unique<CudaQueue>(*this, std::make_shared<Stream>(*this));
}

std::unique_ptr<Queue> CudaDevice::make_queue_at(int priority)
{
    const Priorities there = priorities();
    const int nearest = std::clamp(priority, there.lowest, there.highest);
    if (!nearest)
        return make_queue();
    return std::make_unique<CudaQueue>(*this, std::make_shared<Stream>(*this, -nearest));
}

std::unique_ptr<Queue> CudaDevice::wrap_stream(void *stream)
{
    const auto handle = static_cast<CUstream>(stream);
    CUcontext its{};
    if (!handle || handle == CU_STREAM_PER_THREAD)
        throw Error(std::string(handle ? "the stream of each thread" : "a null stream") +
                    " cannot be a queue: one of its own can, and CU_STREAM_LEGACY");
    Entered entered(*this);
    if (driver.stream_context)
        driver.check(driver.stream_context(handle, &its), "cuStreamGetCtx");
    if (driver.stream_context && its != context_)
        throw Error("a stream of another context than the primary one of " + name_ + " cannot be a queue of it");
    return std::make_unique<CudaQueue>(*this, std::make_shared<Stream>(*this, handle));
}

} // namespace ptsched::device
