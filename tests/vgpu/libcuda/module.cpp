// SPDX-License-Identifier: MIT
/* Modules: shared objects made by vgpu-cc, from a file or from memory. */
#include "tests/vgpu/libcuda/grid.h"
#include "tests/vgpu/libcuda/own_addresses.h"
#include "tests/vgpu/libcuda/runtime.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <cxxabi.h>
#include <dlfcn.h>
#include <elf.h>
#include <fstream>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

namespace vgpu {

namespace {

CUresult load(const char *path, CUmodule *module)
{
    CUcontext context;
    VGPU_TRY(current_context(context));
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        return CUDA_ERROR_INVALID_IMAGE;
    auto *table = static_cast<const vgpu_module *>(dlsym(handle, "vgpu_module"));
    if (!table || table->version != VGPU_MODULE_VERSION) {
        dlclose(handle);
        return CUDA_ERROR_NO_BINARY_FOR_GPU;
    }
    if (state().own_addresses && !share_variables(handle)) {
        dlclose(handle);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *table->calls = &kernel_calls;
    *module = new CUmod_st;
    (*module)->handle = handle;
    (*module)->table = table;
    (*module)->device = context->device;
    (*module)->shared_bytes = shared_variables(path);
    state().modules.insert(*module);
    return CUDA_SUCCESS;
}

/* An image has no length of its own; the section headers are the last thing in what a linker writes. */
std::size_t image_bytes(const void *image)
{
    Elf64_Ehdr header;
    std::memcpy(&header, image, SELFMAG);
    if (std::memcmp(&header, ELFMAG, SELFMAG) != 0)
        return 0;
    std::memcpy(&header, image, sizeof(header));
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_type != ET_DYN)
        return 0;
    return header.e_shoff + std::size_t{header.e_shnum} * header.e_shentsize;
}

/* Each module has its variables: what is loaded again is another file for the linker. */
CUresult load_bytes(const void *image, std::size_t bytes, CUmodule *module)
{
    int fd = memfd_create("vgpu-module", MFD_CLOEXEC);
    if (fd < 0)
        return CUDA_ERROR_OPERATING_SYSTEM;
    CUresult result = CUDA_ERROR_OPERATING_SYSTEM;
    const char *at = static_cast<const char *>(image);
    while (bytes) {
        ssize_t n = write(fd, at, bytes);
        if (n <= 0)
            break;
        at += n;
        bytes -= static_cast<std::size_t>(n);
    }
    if (!bytes)
        result = load(("/proc/self/fd/" + std::to_string(fd)).c_str(), module);
    /* The linker knows files by their names: nothing else may have this one as long as it is loaded. */
    if (result == CUDA_SUCCESS)
        (*module)->fd = fd;
    else
        close(fd);
    return result;
}

/* Of this library. */
std::string folder()
{
    Dl_info info;
    if (!dladdr(reinterpret_cast<void *>(&load), &info))
        return ".";
    const std::string path = info.dli_fname;
    return path.substr(0, path.rfind('/') + 1);
}

/* PTX is not translated: a module beside this library, with the name of its first kernel, does the same. */
CUresult load_ptx(const char *text, CUmodule *module)
{
    const char *entry = std::strstr(text, ".entry ");
    if (!entry)
        return CUDA_ERROR_INVALID_IMAGE;
    entry += std::strlen(".entry ");
    return load((folder() + "ptx/" + std::string(entry, std::strcspn(entry, "( \n")) + ".so").c_str(), module);
}

/* A fat binary is a module behind a header. */
const void *without_fat_header(const void *image)
{
    constexpr std::uint32_t magic = 0xba55ed50;
    struct {
        std::uint32_t magic;
        std::uint16_t version, header_bytes;
    } header;
    std::memcpy(&header, image, SELFMAG);
    if (header.magic != magic)
        return image;
    std::memcpy(&header, image, sizeof(header));
    return static_cast<const char *>(image) + header.header_bytes;
}

CUresult load_image(const void *image, CUmodule *module)
{
    image = without_fat_header(image);
    if (!std::strncmp(static_cast<const char *>(image), ".version", std::strlen(".version")))
        return load_ptx(static_cast<const char *>(image), module);
    std::size_t bytes = image_bytes(image);
    return bytes ? load_bytes(image, bytes, module) : CUDA_ERROR_INVALID_IMAGE;
}

CUresult load_again(const char *path, CUmodule *module)
{
    std::ifstream file(path, std::ios::binary);
    std::string content((std::istreambuf_iterator<char>(file)), {});
    return load_bytes(content.data(), content.size(), module);
}

CUresult check_module(CUmodule module)
{
    return module && state().modules.count(module) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

/* A module's table has the names that programs write. */
std::string plain_name(const char *symbol)
{
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(symbol, nullptr, nullptr, &status),
                                                           &std::free);
    const std::string name = text ? text.get() : symbol;
    return name.substr(0, name.find('('));
}

CUresult find_function(CUmodule module, const char *name, CUfunction *function)
{
    auto &entry = module->functions[name];
    if (!entry) {
        const std::string plain = plain_name(name);
        for (std::uint32_t i = 0; i < module->table->kernel_count; i++) {
            const vgpu_kernel &kernel = module->table->kernels[i];
            if (plain != kernel.name)
                continue;
            entry = std::make_unique<CUfunc_st>();
            entry->module = module;
            entry->kernel = &kernel;
            if (auto found = module->shared_bytes.find(plain); found != module->shared_bytes.end())
                entry->shared_bytes = found->second;
            entry->most_shared_bytes = std::max(0, usual_shared_bytes_of_block - static_cast<int>(entry->shared_bytes));
            if (kernel.param_count)
                entry->params_bytes =
                    kernel.param_offsets[kernel.param_count - 1] + kernel.param_sizes[kernel.param_count - 1];
        }
    }
    *function = entry.get();
    return entry ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult load_from(const char *path, const void *image, CUmodule *module)
{
    CUcontext context;

    VGPU_ENTER(lock);
    if (!module || (!path && !image))
        return CUDA_ERROR_INVALID_VALUE;
    VGPU_TRY(current_context(context));
    if (!path)
        return load_image(image, module);
    if (access(path, R_OK) < 0)
        return CUDA_ERROR_FILE_NOT_FOUND;
    /* A bare name must not be searched for. */
    const std::string name = std::strchr(path, '/') ? path : std::string("./") + path;
    if (void *loaded = dlopen(name.c_str(), RTLD_NOW | RTLD_NOLOAD)) {
        dlclose(loaded);
        return load_again(name.c_str(), module);
    }
    return load(name.c_str(), module);
}

/* A library is a module here, a kernel a function. */
CUmodule as_module(CUlibrary library)
{
    return reinterpret_cast<CUmodule>(library);
}

} // namespace

} // namespace vgpu

using namespace vgpu;

VGPU_EXPORT CUresult cuModuleLoad(CUmodule *module, const char *path)
{
    return path ? load_from(path, nullptr, module) : CUDA_ERROR_INVALID_VALUE;
}

VGPU_EXPORT CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
    return load_from(nullptr, image, module);
}

VGPU_EXPORT CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int, CUjit_option *, void **)
{
    return load_from(nullptr, image, module);
}

VGPU_EXPORT CUresult cuModuleUnload(CUmodule module)
{
    CUcontext context;

    VGPU_ENTER(lock);
    VGPU_TRY(check_module(module));
    VGPU_TRY(current_context(context));
    /* Its code may still be running. */
    VGPU_TRY(wait_context(lock, context));
    if (!state().modules.erase(module))
        return CUDA_ERROR_INVALID_HANDLE;
    for (std::uintptr_t variable : module->variables)
        state().allocations.erase(variable);
    dlclose(module->handle);
    if (module->fd >= 0)
        close(module->fd);
    delete module;
    return CUDA_SUCCESS;
}

VGPU_EXPORT CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    VGPU_ENTER(lock);
    if (!function || !name)
        return CUDA_ERROR_INVALID_VALUE;
    VGPU_TRY(check_module(module));
    return find_function(module, name, function);
}

VGPU_EXPORT CUresult cuModuleGetGlobal_v2(CUdeviceptr *pointer, std::size_t *bytes, CUmodule module, const char *name)
{
    VGPU_ENTER(lock);
    if (!name)
        return CUDA_ERROR_INVALID_VALUE;
    VGPU_TRY(check_module(module));
    void *address = dlsym(module->handle, name);
    Dl_info info;
    ElfW(Sym) *symbol = nullptr;
    if (!address || !dladdr1(address, &info, reinterpret_cast<void **>(&symbol), RTLD_DL_SYMENT) || !symbol ||
        ELF64_ST_TYPE(symbol->st_info) != STT_OBJECT)
        return CUDA_ERROR_NOT_FOUND;
    if (pointer) {
        *pointer = reinterpret_cast<std::uintptr_t>(address);
        State &s = state();
        const auto key = reinterpret_cast<std::uintptr_t>(address);
        if (s.allocations.try_emplace(key, Allocation{Allocation::managed, symbol->st_size, nullptr, 0, 0, ++s.ids})
                .second)
            module->variables.push_back(key);
    }
    if (bytes)
        *bytes = symbol->st_size;
    return CUDA_SUCCESS;
}

VGPU_EXPORT CUresult cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *, void **, unsigned int,
                                       CUlibraryOption *, void **, unsigned int)
{
    return load_from(nullptr, code, reinterpret_cast<CUmodule *>(library));
}

VGPU_EXPORT CUresult cuLibraryLoadFromFile(CUlibrary *library, const char *path, CUjit_option *, void **, unsigned int,
                                           CUlibraryOption *, void **, unsigned int)
{
    return path ? load_from(path, nullptr, reinterpret_cast<CUmodule *>(library)) : CUDA_ERROR_INVALID_VALUE;
}

VGPU_EXPORT CUresult cuLibraryUnload(CUlibrary library)
{
    return cuModuleUnload(as_module(library));
}

VGPU_EXPORT CUresult cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name)
{
    return cuModuleGetFunction(reinterpret_cast<CUfunction *>(kernel), as_module(library), name);
}

VGPU_EXPORT CUresult cuLibraryGetModule(CUmodule *module, CUlibrary library)
{
    VGPU_ENTER(lock);
    if (!module)
        return CUDA_ERROR_INVALID_VALUE;
    VGPU_TRY(check_module(as_module(library)));
    *module = as_module(library);
    return CUDA_SUCCESS;
}

VGPU_EXPORT CUresult cuKernelGetFunction(CUfunction *function, CUkernel kernel)
{
    if (!function || !kernel)
        return CUDA_ERROR_INVALID_VALUE;
    *function = reinterpret_cast<CUfunction>(kernel);
    return CUDA_SUCCESS;
}

VGPU_EXPORT CUresult cuFuncGetModule(CUmodule *module, CUfunction function)
{
    if (!module || !function)
        return CUDA_ERROR_INVALID_VALUE;
    *module = function->module;
    return CUDA_SUCCESS;
}

VGPU_EXPORT CUresult cuFuncGetName(const char **name, CUfunction function)
{
    if (!name || !function)
        return CUDA_ERROR_INVALID_VALUE;
    *name = function->kernel->name;
    return CUDA_SUCCESS;
}

VGPU_EXPORT CUresult cuFuncGetParamInfo(CUfunction function, std::size_t index, std::size_t *offset, std::size_t *size)
{
    if (!function || !offset || index >= function->kernel->param_count)
        return CUDA_ERROR_INVALID_VALUE;
    *offset = function->kernel->param_offsets[index];
    if (size)
        *size = function->kernel->param_sizes[index];
    return CUDA_SUCCESS;
}

VGPU_EXPORT CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function)
{
    if (!value || attribute < 0 || attribute > 15)
        return CUDA_ERROR_INVALID_VALUE;
    if (!function)
        return CUDA_ERROR_INVALID_HANDLE;
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        *value = threads_of_block;
        break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
        *value = static_cast<int>(function->shared_bytes);
        break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
        *value = 32;
        break;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
        *value = 90;
        break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        *value = function->most_shared_bytes;
        break;
    default:
        *value = 0;
    }
    return CUDA_SUCCESS;
}

VGPU_EXPORT CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value)
{
    if (!function)
        return CUDA_ERROR_INVALID_HANDLE;
    if (attribute < 0 || attribute > 15)
        return CUDA_ERROR_INVALID_VALUE;
    if (attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) {
        if (value < 0 || value > most_shared_bytes_of_block - static_cast<int>(function->shared_bytes))
            return CUDA_ERROR_INVALID_VALUE;
        function->most_shared_bytes = value;
    }
    return CUDA_SUCCESS;
}

VGPU_EXPORT CUresult cuFuncSetCacheConfig(CUfunction function, CUfunc_cache)
{
    return function ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}
