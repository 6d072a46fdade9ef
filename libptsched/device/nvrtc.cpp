// SPDX-License-Identifier: MIT
#include "libptsched/device/nvrtc.hpp"

#include "libptsched/base/lock.hpp"
#include "libptsched/device/image.hpp"

#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <list>

namespace ptsched::device {

namespace {

/* The part of the library's binary interface that is used here: it has been the same from CUDA 11.1 on. */
using Program = struct NvrtcProgram *;
using Result = int; /* 0: success */
using Names = std::map<std::string, std::string>;
namespace fs = std::filesystem;

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

/*
 * Where the headers are that come with CUDA: beside the library, in a toolkit or a wheel of Python, or where programs
 * look for a toolkit.
 */
std::vector<std::string> find_header_folders()
{
    constexpr const char *known = "cuda_fp16.h";
    std::vector<fs::path> places;
    Dl_info info;
    if (const char *named = std::getenv("PTSCHED_CUDA_INCLUDE"))
        places.emplace_back(named);
    if (dladdr(reinterpret_cast<const void *>(nvrtc().create), &info)) {
        std::error_code error;
        const fs::path library = fs::canonical(info.dli_fname, error), above = library.parent_path().parent_path();
        places.push_back(above / "include");
        places.push_back(above.parent_path() / "include");
        places.push_back(above.parent_path() / "cuda_runtime" / "include");
    }
    for (const char *variable : {"CUDA_HOME", "CUDA_PATH"})
        if (const char *home = std::getenv(variable))
            places.push_back(fs::path(home) / "include");
    places.emplace_back("/usr/local/cuda/include");
    for (const fs::path &place : places) {
        std::error_code error;
        if (!fs::exists(place / known, error))
            continue;
        std::vector<std::string> found = {place.string()};
        if (fs::exists(place / "cccl", error)) /* of the standard library for kernels, since CUDA 13 */
            found.push_back((place / "cccl").string());
        return found;
    }
    return {};
}

bool is_standard(const std::string &option)
{
    return option.starts_with("--std") || option.starts_with("-std");
}

std::vector<std::string> options_of(const CudaSource &source, const std::string &architecture)
{
    std::vector<std::string> options = {"--gpu-architecture=" + architecture};
    if (std::none_of(source.options.begin(), source.options.end(), is_standard))
        options.emplace_back("--std=c++17");
    options.insert(options.end(), source.options.begin(), source.options.end());
    /* Behind what the program names. */
    for (const std::string &folder : find_header_folders())
        options.push_back("--include-path=" + folder);
    return options;
}

std::vector<const char *> pointers_to(const std::vector<std::string> &texts)
{
    std::vector<const char *> pointers;
    for (const std::string &text : texts)
        pointers.push_back(text.c_str());
    return pointers;
}

class Compilation {
public:
    explicit Compilation(const CudaSource &source) : nvrtc_(nvrtc())
    {
        std::vector<const char *> texts, names;
        for (const auto &[name, text] : source.headers) {
            names.push_back(name.c_str());
            texts.push_back(text.c_str());
        }
        nvrtc_.check(nvrtc_.create(&program_, source.text.c_str(), "source.cu", static_cast<int>(names.size()),
                                   texts.data(), names.data()),
                     "nvrtcCreateProgram");
    }
    ~Compilation() { nvrtc_.destroy(&program_); }
    Compilation(const Compilation &) = delete;
    Compilation &operator=(const Compilation &) = delete;

    /* With the kernels of @wanted, of which @function is the last that somebody has asked for. */
    Cubin run(const Names &wanted, const std::string &function, const std::vector<std::string> &options)
    {
        Cubin cubin{{}, wanted};
        std::size_t size = 0;

        for (const auto &[kernel, name] : wanted)
            nvrtc_.check(nvrtc_.want(program_, kernel.c_str()), "nvrtcAddNameExpression");
        if (Result result = nvrtc_.compile(program_, static_cast<int>(options.size()), pointers_to(options).data()))
            throw Error("kernel " + function + " does not compile with " + options.front() + ": " +
                        nvrtc_.error_text(result) + "\n" + log());
        for (auto &[kernel, name] : cubin.names) {
            const char *lowered = nullptr;
            nvrtc_.check(nvrtc_.name(program_, kernel.c_str(), &lowered), "nvrtcGetLoweredName");
            name = lowered;
        }
        nvrtc_.check(nvrtc_.cubin_size(program_, &size), "nvrtcGetCUBINSize");
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

/* What was compiled of late, the last first. */
struct Compiled {
    CudaSource source;
    std::string architecture;
    std::shared_ptr<const Cubin> cubin;
};
constexpr std::size_t most_compiled = 32;

/* Null if it has not, or if nobody knows which of its kernels is meant. */
std::shared_ptr<const Cubin> with_kernel(const std::shared_ptr<const Cubin> &cubin, const std::string &function)
{
    if (cubin->names.count(function))
        return cubin;
    const auto found = functions_called(function, std::as_bytes(std::span(cubin->image)));
    if (found.size() != 1)
        return nullptr;
    auto more = std::make_shared<Cubin>(*cubin);
    more->names[function] = found.front();
    return more;
}

} // namespace

std::shared_ptr<const Cubin> compile_cuda(const CudaSource &source, const std::string &function, int major, int minor)
{
    static Mutex mutex;
    static auto &known PTSCHED_GUARDED_BY(mutex) = *new std::list<Compiled>;
    const std::string architecture = "sm_" + std::to_string(major) + std::to_string(minor);

    Guard lock(mutex);
    auto found = std::find_if(known.begin(), known.end(), [&](const Compiled &one) {
        return one.architecture == architecture && one.source == source;
    });
    Names wanted = {{function, {}}};
    if (found != known.end()) {
        known.splice(known.begin(), known, found);
        if (auto cubin = with_kernel(found->cubin, function))
            return found->cubin = cubin;
        wanted.insert(found->cubin->names.begin(), found->cubin->names.end());
    }
    auto cubin =
        std::make_shared<const Cubin>(Compilation(source).run(wanted, function, options_of(source, architecture)));
    if (found == known.end())
        found = known.insert(known.begin(), {source, architecture, nullptr});
    found->cubin = cubin;
    if (known.size() > most_compiled)
        known.pop_back();
    return cubin;
}

} // namespace ptsched::device
