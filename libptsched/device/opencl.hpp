/* SPDX-License-Identifier: MIT */
/* What the files about OpenCL share. */
#ifndef PTSCHED_DEVICE_OPENCL_HPP
#define PTSCHED_DEVICE_OPENCL_HPP

#include "libptsched/base/lock.hpp"
#include "libptsched/device/icd.hpp"
#include "libptsched/device/memory.hpp"

namespace ptsched::device {

/* An address is a buffer's handle. */
static_assert(sizeof(Address) == sizeof(cl_mem), "a kernel's argument that is a buffer is passed as an address");
inline cl_mem buffer_at(Address address)
{
    return static_cast<cl_mem>(host_pointer(address));
}

class OpenclDevice final : public Device {
public:
    OpenclDevice(const Icd &icd, cl_device_id id);

    const std::string &name() const override { return name_; }
    double strength() const override;
    Address allocate(std::size_t bytes) override { return memory_.take(bytes); }
    void release(Address address, std::size_t bytes) noexcept override { memory_.give(address, bytes); }
    std::unique_ptr<Queue> make_queue() override;
    Queue &outgoing() override;
    bool orders_others() const override { return true; }
    Residents *residents() override { return &memory_.residents(); }
    void limit_memory(std::size_t bytes) override { memory_.limit(bytes); }
    std::size_t trim(std::size_t keep) override { return memory_.trim(keep); }

    cl_context context() const { return context_; }
    cl_device_id id() const { return id_; }

    const Icd &icd;

private:
    Address allocate_now(std::size_t bytes);

    const cl_device_id id_;
    std::string name_;
    cl_context context_{};
    Mutex mutex_;
    std::unique_ptr<Queue> outgoing_ PTSCHED_GUARDED_BY(mutex_);
    Memory memory_;
};

/* What a source is built to, for the kernels in it. */
class OpenclProgram {
public:
    OpenclProgram(const OpenclDevice &device, const std::string &source);
    ~OpenclProgram();
    OpenclProgram(const OpenclProgram &) = delete;
    OpenclProgram &operator=(const OpenclProgram &) = delete;
    /* Throws Error with what the compiler says; @function is who needs it. */
    void build(const std::string &function);
    cl_program handle() const { return program_; }

    const OpenclDevice &device;

private:
    cl_program program_;
};

class OpenclCode final : public Code {
public:
    OpenclCode(const OpenclDevice &device, const std::string &source, const std::string &function);
    ~OpenclCode() override;
    OpenclCode(const OpenclCode &) = delete;
    OpenclCode &operator=(const OpenclCode &) = delete;
    std::optional<std::vector<std::size_t>> parameter_sizes() const override { return sizes_; }
    std::optional<bool> is_address(std::size_t parameter) const override { return are_addresses_.at(parameter); }
    void prepare(const Geometry &geometry) const override;

    void run(cl_command_queue queue, const Geometry &geometry, const std::vector<void *> &arguments) const;

private:
    void look_at_parameters();

    const OpenclDevice &device_;
    const std::string function_;
    const std::shared_ptr<const OpenclProgram> program_;
    cl_kernel kernel_;
    std::vector<std::size_t> sizes_; /* of each parameter */
    std::vector<bool> are_addresses_;
    mutable Mutex mutex_; /* of the kernel's arguments */
};

} // namespace ptsched::device

#endif /* PTSCHED_DEVICE_OPENCL_HPP */
