// SPDX-License-Identifier: MIT
#include "nvrtc.hpp"

#include "device.hpp"

#include <array>
#include <cstdlib>
#include <dlfcn.h>
#include <mutex>

namespace ptsched::device {

namespace {

/* The part of the library's binary interface that is used here: it has been the same from CUDA 11.1 on. */
using Program = struct NvrtcProgram *;
using Result = int; /* 0: success */

/* F(name of the member, what follows nvrtc in the exported name, parameters) */
#define PTSCHED_DEVICE_NVRTC(F)                                                                                        \
    F(create, CreateProgram, (Program *, const char *, const char *, int, const char *const *, const char *const *))   \
    F(destroy, DestroyProgram, (Program *))                                                                            \
    F(want, AddNameExpression, (Program, const char *))                                                                \
    F(compile, CompileProgram, (Program, int, const char *const *))                                                    \
    F(log_size, GetProgramLogSize, (Program, std::size_t *))                                                           \
    F(log, GetProgramLog, (Program, char *))                                                                           \
    F(cubin_size, GetCUBINSize, (Program, std::size_t *))                                                              \
    F(cubin, GetCUBIN, (Program, char *))                                                                              \
    F(name, GetLoweredName, (Program, const char *, const char **))

struct Nvrtc {
#define PTSCHED_DEVICE_MEMBER(member, symbol, parameters) Result(*member) parameters;
    PTSCHED_DEVICE_NVRTC(PTSCHED_DEVICE_MEMBER)
#undef PTSCHED_DEVICE_MEMBER
    const char *(*error_text)(Result);

    void check(Result result, const char *doing) const
    {
        if (result)
            throw Error(std::string(doing) + ": " + error_text(result));
    }
};

/* Stays loaded; null if it cannot be loaded. */
void *open_any(std::string &tried)
{
    const char *named = std::getenv("PTSCHED_NVRTC");
    for (const char *name : {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so"}) {
        name = named ? named : name;
        if (void *library = dlopen(name, RTLD_NOW))
            return library;
        tried += (tried.empty() ? "" : ", ") + std::string(named ? dlerror() : name);
        if (named)
            break;
    }
    return nullptr;
}

Nvrtc load()
{
    Nvrtc n;
    std::string tried;
    void *library = open_any(tried);

    if (!library)
        throw Error("CUDA source needs NVRTC, the compiler library of the CUDA toolkit, which cannot be loaded (" +
                    tried +
                    "): install it, or name the library in PTSCHED_NVRTC, or compile the source to a cubin with nvcc");
    auto find = [&](const char *name, auto *&function) {
        function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
        if (!function)
            throw Error(std::string("NVRTC is older than CUDA 11.1: it has no ") + name);
    };
#define PTSCHED_DEVICE_FIND(member, symbol, parameters) find("nvrtc" #symbol, n.member);
    PTSCHED_DEVICE_NVRTC(PTSCHED_DEVICE_FIND)
#undef PTSCHED_DEVICE_FIND
    find("nvrtcGetErrorString", n.error_text);
    return n;
}

const Nvrtc &nvrtc()
{
    /* Tried again if it throws. */
    static const Nvrtc loaded = load();
    return loaded;
}

class Compilation {
public:
    explicit Compilation(const std::string &source) : nvrtc_(nvrtc())
    {
        nvrtc_.check(nvrtc_.create(&program_, source.c_str(), "source.cu", 0, nullptr, nullptr), "nvrtcCreateProgram");
    }
    ~Compilation() { nvrtc_.destroy(&program_); }
    Compilation(const Compilation &) = delete;
    Compilation &operator=(const Compilation &) = delete;

    Cubin run(const std::string &function, const std::string &architecture)
    {
        const char *options[] = {architecture.c_str(), "--std=c++17"}, *name = nullptr;
        Cubin cubin;
        std::size_t size = 0;

        nvrtc_.check(nvrtc_.want(program_, function.c_str()), "nvrtcAddNameExpression");
        if (Result result = nvrtc_.compile(program_, 2, options))
            throw Error("kernel " + function + " does not compile for " + architecture + ": " +
                        nvrtc_.error_text(result) + "\n" + log());
        nvrtc_.check(nvrtc_.name(program_, function.c_str(), &name), "nvrtcGetLoweredName");
        nvrtc_.check(nvrtc_.cubin_size(program_, &size), "nvrtcGetCUBINSize");
        cubin.function = name;
        cubin.image.resize(size);
        nvrtc_.check(nvrtc_.cubin(program_, cubin.image.data()), "nvrtcGetCUBIN");
        return cubin;
    }

private:
    std::string log() const
    {
        std::size_t size = 0;
        if (nvrtc_.log_size(program_, &size) || !size)
            return {};
        std::string text(size, '\0');
        nvrtc_.log(program_, text.data());
        return text.c_str();
    }

    const Nvrtc &nvrtc_;
    Program program_ = nullptr;
};

} // namespace

Cubin compile_cuda(const std::string &source, const std::string &function, int major, int minor)
{
    /* The last one: GPUs of a kind get the same, one after the other. */
    static std::mutex mutex;
    static std::array<std::string, 3> last;
    static Cubin cubin;
    const std::array<std::string, 3> wanted = {
        source, function, "--gpu-architecture=sm_" + std::to_string(major) + std::to_string(minor)};

    std::lock_guard lock(mutex);
    if (last != wanted) {
        last = {};
        cubin = Compilation(source).run(function, wanted[2]);
        last = wanted;
    }
    return cubin;
}

} // namespace ptsched::device
