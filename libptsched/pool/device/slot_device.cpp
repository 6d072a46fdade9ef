// SPDX-License-Identifier: MIT
#include "libptsched/pool/device/slot_device.hpp"

#include "libptsched/pool/device/slot_work.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <thread>
#include <typeinfo>

namespace ptsched::pool {

namespace {

/* Of one look at what has come back. */
constexpr std::size_t at_once = 64;

[[noreturn]] void refuse(const std::string &text)
{
    throw Error("pool as a device: " + text);
}

/* What @function returns. Who asks a device tells a fault of it from what else may be wrong. */
template <typename Function> auto with_faults(Function function)
{
    try {
        return function();
    } catch (const Failure &failure) {
        try {
            std::rethrow_if_nested(failure);
        } catch (const device::Fault &) {
            throw device::Fault(failure.what());
        } catch (...) {
            /* It is none. */
        }
        throw;
    }
}

Options checked(device::Device &gpu, Options options)
{
    const Options usual;
    if (std::ranges::find(device::gpus(), &gpu) == device::gpus().end())
        refuse(gpu.name() + " is no GPU of CUDA, one of device::gpus()");
    if (!options.devices.empty())
        refuse("options name devices: it has the one that it is made for, " + gpu.name());
    if (options.outputs != usual.outputs || options.priorities != usual.priorities)
        refuse("options have outputs or priorities: a graph's tasks have channels, and priorities of their own");
    if (options.host_threads)
        refuse("options have host_threads: functions of the host are tasks of the graph");
    options.devices = {&gpu};
    return options;
}

/* Whose work is done by SlotWork. */
class SlotQueue final : public device::Queue {
public:
    explicit SlotQueue(SlotDeviceImpl &device) : work_(std::make_shared<SlotWork>(device)) {}
    ~SlotQueue() override
    {
        try {
            work_->mark()->wait();
        } catch (const std::exception &) {
            /* Nothing of it comes any more. */
        }
    }
    SlotQueue(const SlotQueue &) = delete;
    SlotQueue &operator=(const SlotQueue &) = delete;

    void upload(device::Address to, const void *from, std::size_t bytes) override
    {
        work_->add_copy([=](device::Queue &queue) { queue.upload(to, from, bytes); });
    }
    void download(void *to, device::Address from, std::size_t bytes) override
    {
        work_->add_copy([=](device::Queue &queue) { queue.download(to, from, bytes); });
    }
    void copy(device::Address to, device::Device &source, device::Address from, std::size_t bytes) override
    {
        device::Device &gpu = work_->device().gpu();
        device::Device &its = &source == &work_->device() ? gpu : source;
        work_->add_copy([=, &its](device::Queue &queue) { queue.copy(to, its, from, bytes); });
    }
    void run(const device::Code &code, const device::Geometry &, const std::vector<void *> &arguments) override
    {
        if (typeid(code) != typeid(SlotCode) || &static_cast<const SlotCode &>(code).device() != &work_->device())
            refuse("what is to run on " + work_->device().name() +
                   " is no code of it: TaskDevice::kernel() makes some");
        work_->add_task(static_cast<const SlotCode &>(code), arguments);
    }
    void after(const device::MarkerPtr &marker) override { work_->add_wait(marker); }
    device::MarkerPtr mark() override { return work_->mark(); }

private:
    const std::shared_ptr<SlotWork> work_;
};

} // namespace

SlotCode::SlotCode(const device::Device &device, unsigned kind, std::size_t task_bytes, std::vector<Member> parameters)
    : device_(device), kind_(kind), task_bytes_(task_bytes), parameters_(std::move(parameters))
{
    for (std::size_t i = 0; i < parameters_.size(); i++)
        if (const auto [offset, bytes, is_address] = parameters_[i]; offset > task_bytes || bytes > task_bytes - offset)
            refuse("parameter " + std::to_string(i) + " would be at byte " + std::to_string(offset) + " and have " +
                   std::to_string(bytes) + ", in tasks of " + std::to_string(task_bytes));
}

std::optional<std::vector<std::size_t>> SlotCode::parameter_sizes() const
{
    std::vector<std::size_t> sizes;
    for (const Member &parameter : parameters_)
        sizes.push_back(parameter.bytes);
    return sizes;
}

/* A number of that size may be meant for one. */
std::optional<bool> SlotCode::is_address(std::size_t parameter) const
{
    if (parameter >= parameters_.size())
        return {};
    const Member &member = parameters_[parameter];
    if (!member.is_address && member.bytes == sizeof(device::Address))
        return {};
    return member.is_address;
}

void SlotCode::write_task(std::byte *task, const std::vector<void *> &arguments) const
{
    std::memset(task, 0, task_bytes_);
    for (std::size_t i = 0; i < parameters_.size(); i++)
        std::memcpy(task + parameters_[i].offset, arguments[i], parameters_[i].bytes);
}

SlotDevice &SlotDevice::make(device::Device &gpu, Options options, std::vector<Core::Kind> kinds)
{
    static Mutex mutex;
    static auto &made PTSCHED_GUARDED_BY(mutex) = *new std::vector<std::unique_ptr<SlotDeviceImpl>>;

    auto device = std::make_unique<SlotDeviceImpl>(gpu, checked(gpu, std::move(options)), std::move(kinds));
    Guard lock(mutex);
    return *made.emplace_back(std::move(device));
}

SlotDeviceImpl::SlotDeviceImpl(device::Device &gpu, Options options, std::vector<Core::Kind> kinds)
    : gpu_(gpu), name_("slots of " + gpu.name()), kinds_(std::move(kinds)), copies_(gpu.make_queue()),
      core_(Core::make(std::move(options), kinds_))
{
}

std::unique_ptr<device::Queue> SlotDeviceImpl::make_queue()
{
    return std::make_unique<SlotQueue>(*this);
}

std::unique_ptr<device::Code> SlotDeviceImpl::code(unsigned kind, std::vector<Member> parameters)
{
    if (kind >= kinds_.size())
        refuse("kind is " + std::to_string(kind) + ", and it has " + std::to_string(kinds_.size()));
    return std::make_unique<SlotCode>(*this, kind, kinds_[kind].bytes, std::move(parameters));
}

void SlotDeviceImpl::stop()
{
    is_ending_ = true;
    core_->end();
    /* Not before: who waits is told that then, and takes it that nothing is written any more. */
    is_stopped_ = true;
}

bool SlotDeviceImpl::push(const std::shared_ptr<SlotWork> &work, unsigned kind, const std::byte *task)
{
    Guard lock(mutex_);
    if (!with_faults([&] { return core_->push(kind, task, 1, {}, Duration::zero()); }))
        return false;
    begun_.push_back(work);
    return true;
}

void SlotDeviceImpl::collect(Duration most)
{
    std::array<std::uint64_t, at_once> numbers;
    std::size_t count = 0;
    with_faults([&] {
        return core_->pop(
            0, at_once, [&](unsigned, const std::byte *, std::uint64_t number) { numbers[count++] = number; }, most);
    });
    for (std::size_t i = 0; i < count; i++) {
        const std::shared_ptr<SlotWork> work = whose(numbers[i]);
        work->task_ended();
        try {
            work->go_on();
        } catch (const std::exception &) {
            /* Who waits for that work asks himself, and is told. */
        }
    }
    if (!count && is_stopped_)
        refuse(name_ + " was stopped");
    /* A pool that is stopped lets nobody wait. */
    if (!count && is_ending_)
        std::this_thread::sleep_for(most);
}

std::shared_ptr<SlotWork> SlotDeviceImpl::whose(std::uint64_t number)
{
    Guard lock(mutex_);
    std::shared_ptr<SlotWork> work = std::move(begun_[number - first_]);
    for (; !begun_.empty() && !begun_.front(); first_++)
        begun_.pop_front();
    return work;
}

} // namespace ptsched::pool
