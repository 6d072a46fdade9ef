/* SPDX-License-Identifier: MIT */
/* What the versions by hand use: CUDA's driver, whose things are given back with their objects. Errors are Error. */
#ifndef SAMPLES_COMMON_DRIVER_HPP
#define SAMPLES_COMMON_DRIVER_HPP

#include "samples/common/driver_calls.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace ptsched::samples::driver {

inline void check(CUresult result)
{
    if (result == CUDA_SUCCESS)
        return;
    const char *text = nullptr;
    cuGetErrorString(result, &text);
    throw Error("CUDA: " + (text ? std::string(text) : "error " + std::to_string(result)));
}

inline CUdeviceptr address(const void *pointer)
{
    return reinterpret_cast<CUdeviceptr>(pointer);
}

/* The primary one of a GPU, the first unless said otherwise, current for the thread that makes it. */
class Context {
public:
    explicit Context(int number = 0)
    {
        CUcontext context = nullptr;
        check(cuInit(0));
        check(cuDeviceGet(&device_, number));
        check(cuDevicePrimaryCtxRetain(&context, device_));
        check(cuCtxSetCurrent(context));
    }
    ~Context() { cuDevicePrimaryCtxRelease_v2(device_); }
    Context(const Context &) = delete;
    Context &operator=(const Context &) = delete;

private:
    CUdevice device_ = 0;
};

class Stream {
public:
    Stream() { check(cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING)); }
    ~Stream() { cuStreamDestroy_v2(stream_); }
    Stream(const Stream &) = delete;
    Stream &operator=(const Stream &) = delete;
    operator CUstream() const { return stream_; }
    void finish() const { check(cuStreamSynchronize(stream_)); }

private:
    CUstream stream_ = nullptr;
};

class Event {
public:
    Event() { check(cuEventCreate(&event_, CU_EVENT_DISABLE_TIMING)); }
    ~Event() { cuEventDestroy_v2(event_); }
    Event(const Event &) = delete;
    Event &operator=(const Event &) = delete;
    void record(CUstream stream) const { check(cuEventRecord(event_, stream)); }
    /* What @stream is given from now on comes after what was last recorded; at once if nothing was. */
    void hold_back(CUstream stream) const { check(cuStreamWaitEvent(stream, event_, 0)); }
    /* Waits for what was last recorded. */
    void finish() const { check(cuEventSynchronize(event_)); }

private:
    CUevent event_ = nullptr;
};

/* Elements on the device. */
template <typename T> class Memory {
public:
    explicit Memory(std::size_t count) { check(cuMemAlloc_v2(&address_, count * sizeof(T))); }
    ~Memory() { cuMemFree_v2(address_); }
    Memory(const Memory &) = delete;
    Memory &operator=(const Memory &) = delete;
    T *data() const { return reinterpret_cast<T *>(address_); }

private:
    CUdeviceptr address_ = 0;
};

/* Page-locked memory of the host. */
template <typename T> class Pinned {
public:
    explicit Pinned(std::size_t count) : count_(count)
    {
        void *pointer = nullptr;
        check(cuMemHostAlloc(&pointer, count * sizeof(T), 0));
        data_ = static_cast<T *>(pointer);
    }
    ~Pinned() { cuMemFreeHost(data_); }
    Pinned(const Pinned &) = delete;
    Pinned &operator=(const Pinned &) = delete;
    T *data() const { return data_; }
    std::span<T> all() const { return {data_, count_}; }

private:
    T *data_ = nullptr;
    std::size_t count_;
};

template <typename T> void upload(T *to, const T *from, std::size_t count, CUstream stream)
{
    check(cuMemcpyHtoDAsync_v2(address(to), from, count * sizeof(T), stream));
}

template <typename T> void download(T *to, const T *from, std::size_t count, CUstream stream)
{
    check(cuMemcpyDtoHAsync_v2(to, address(from), count * sizeof(T), stream));
}

/* What cuModuleLoad() takes, of the device that is current. */
class Module {
public:
    explicit Module(const std::string &file)
    {
        if (cuModuleLoad(&module_, file.c_str()) != CUDA_SUCCESS)
            throw Error("no kernels can be loaded from " + file +
                        ": make builds a file of that name with nvcc, and --module names another");
    }
    ~Module() { cuModuleUnload(module_); }
    Module(const Module &) = delete;
    Module &operator=(const Module &) = delete;
    CUfunction find(const char *name) const
    {
        CUfunction function = nullptr;
        check(cuModuleGetFunction(&function, module_, name));
        return function;
    }

private:
    CUmodule module_ = nullptr;
};

/* A kernel of a file, on whichever device is current; loaded when it first is. Thread-safe. */
class Kernel {
public:
    Kernel(std::string file, std::string name) : file_(std::move(file)), name_(std::move(name)) {}
    CUfunction here() const
    {
        CUdevice device = 0;
        check(cuCtxGetDevice(&device));
        const std::lock_guard lock(mutex_);
        std::unique_ptr<Module> &module = modules_[device];
        if (!module)
            module = std::make_unique<Module>(file_);
        return module->find(name_.c_str());
    }

private:
    const std::string file_, name_;
    mutable std::mutex mutex_;
    mutable std::map<CUdevice, std::unique_ptr<Module>> modules_;
};

struct Size {
    unsigned x = 1, y = 1;
};

/* The arguments have exactly the types of the kernel's parameters. */
template <typename... Arguments>
void launch(CUfunction kernel, CUstream stream, Size grid, Size block, Arguments... arguments)
{
    void *pointers[] = {static_cast<void *>(&arguments)...};
    check(cuLaunchKernel(kernel, grid.x, grid.y, 1, block.x, block.y, 1, 0, stream, pointers, nullptr));
}

} // namespace ptsched::samples::driver

#endif /* SAMPLES_COMMON_DRIVER_HPP */
