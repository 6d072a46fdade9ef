// SPDX-License-Identifier: MIT
/* Kernels of OpenCL C, built from source. */
#include "libptsched/base/lock.hpp"
#include "libptsched/device/opencl.hpp"

#include <map>

namespace ptsched::device {

namespace {

/* Of a scalar or a vector of OpenCL C; zero for all others. */
std::size_t size_of(const std::string &type)
{
    struct Scalar {
        const char *name;
        std::size_t bytes;
    };
    static constexpr Scalar scalars[] = {{"char", 1}, {"uchar", 1}, {"short", 2}, {"ushort", 2},
                                         {"half", 2}, {"int", 4},   {"uint", 4},  {"float", 4},
                                         {"long", 8}, {"ulong", 8}, {"double", 8}};
    std::size_t digits = type.find_first_of("0123456789");
    std::string base = type.substr(0, digits), width = digits == std::string::npos ? "1" : type.substr(digits);
    std::size_t elements = 0;

    for (std::size_t count : {1, 2, 3, 4, 8, 16})
        if (width == std::to_string(count))
            elements = count == 3 ? 4 : count;
    for (const Scalar &scalar : scalars)
        if (base == scalar.name)
            return elements * scalar.bytes;
    return 0;
}

} // namespace

OpenclProgram::OpenclProgram(const OpenclDevice &device, const std::string &source) : device(device)
{
    const Icd &icd = device.icd;
    const char *text = source.c_str();
    const std::size_t length = source.size();
    cl_int error;

    program_ = icd.create_program(device.context(), 1, &text, &length, &error);
    Icd::check(error, "clCreateProgramWithSource");
}

OpenclProgram::~OpenclProgram()
{
    device.icd.release_program(program_);
}

void OpenclProgram::build(const std::string &function)
{
    const Icd &icd = device.icd;
    cl_device_id id = device.id();
    const cl_int result = icd.build(program_, 1, &id, "-cl-kernel-arg-info", nullptr, nullptr);

    if (result == CL_SUCCESS)
        return;
    std::size_t size = 0;
    icd.build_info(program_, id, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size);
    std::string log(size, '\0');
    icd.build_info(program_, id, CL_PROGRAM_BUILD_LOG, size, log.data(), nullptr);
    try {
        Icd::fail(result, "kernel " + function + " does not compile for " + device.name());
    } catch (const Error &failure) {
        throw Error(std::string(failure.what()) + "\n" + log.c_str());
    }
}

namespace {

/* Graphs have many kernels of one source. */
std::shared_ptr<const OpenclProgram> built_once(const OpenclDevice &device, const std::string &source,
                                                const std::string &function)
{
    static Mutex mutex;
    using Known = std::map<std::pair<const OpenclDevice *, std::string>, std::weak_ptr<const OpenclProgram>>;
    static Known &programs PTSCHED_GUARDED_BY(mutex) = *new Known; /* some code may live until exit */
    Guard lock(mutex);
    auto found = programs.find({&device, source});
    if (auto known = found == programs.end() ? nullptr : found->second.lock())
        return known;
    auto program = std::make_shared<OpenclProgram>(device, source);
    program->build(function);
    std::erase_if(programs, [](const auto &known) { return known.second.expired(); });
    programs[{&device, source}] = program;
    return program;
}

} // namespace

OpenclCode::OpenclCode(const OpenclDevice &device, const std::string &source, const std::string &function)
    : device_(device), function_(function), program_(built_once(device, source, function))
{
    cl_int error;
    kernel_ = device.icd.create_kernel(program_->handle(), function.c_str(), &error);
    if (error)
        Icd::fail(error, "kernel " + function + " in its source");
    try {
        look_at_parameters();
    } catch (...) {
        device_.icd.release_kernel(kernel_);
        throw;
    }
}

OpenclCode::~OpenclCode()
{
    device_.icd.release_kernel(kernel_);
}

void OpenclCode::look_at_parameters()
{
    const Icd &icd = device_.icd;
    cl_uint count = 0;

    Icd::check(icd.kernel_info(kernel_, CL_KERNEL_NUM_ARGS, sizeof(count), &count, nullptr), "clGetKernelInfo");
    for (cl_uint i = 0; i < count; i++) {
        cl_kernel_arg_address_qualifier where = 0;
        char type[256] = "";
        Icd::check(icd.argument_info(kernel_, i, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof(where), &where, nullptr),
                   "clGetKernelArgInfo");
        Icd::check(icd.argument_info(kernel_, i, CL_KERNEL_ARG_TYPE_NAME, sizeof(type), type, nullptr),
                   "clGetKernelArgInfo");
        bool pointer = where == CL_KERNEL_ARG_ADDRESS_GLOBAL || where == CL_KERNEL_ARG_ADDRESS_CONSTANT;
        bool value = where == CL_KERNEL_ARG_ADDRESS_PRIVATE && size_of(type);
        if (!pointer && !value)
            throw Error("parameter " + std::to_string(i + 1) + " of kernel " + function_ + " is a " + type +
                        (where == CL_KERNEL_ARG_ADDRESS_LOCAL ? " in local memory" : "") +
                        ": it can be a pointer to global or constant memory, or a number or vector");
        sizes_.push_back(pointer ? sizeof(Address) : size_of(type));
        are_addresses_.push_back(pointer);
    }
}

void OpenclCode::prepare(const Geometry &geometry) const
{
    std::size_t most = 0;
    Icd::check(device_.icd.group_info(kernel_, device_.id(), CL_KERNEL_WORK_GROUP_SIZE, sizeof(most), &most, nullptr),
               "clGetKernelWorkGroupInfo");
    if (geometry.threads_of_block() > static_cast<double>(most))
        throw Error("kernel " + function_ + " has blocks of " + describe(geometry.block) + " threads, and can have " +
                    std::to_string(most) + " in a block on " + device_.name());
    if (geometry.shared_bytes)
        throw Error("kernel " + function_ + " has " + std::to_string(geometry.shared_bytes) +
                    " bytes of dynamic shared memory in a block: in OpenCL C it would declare them itself, as local");
}

void OpenclCode::run(cl_command_queue queue, const Geometry &g, const std::vector<void *> &arguments) const
{
    const Icd &icd = device_.icd;
    const std::size_t local[] = {g.block.x, g.block.y, g.block.z};
    const std::size_t global[] = {local[0] * g.grid.x, local[1] * g.grid.y, local[2] * g.grid.z};

    if (arguments.size() != sizes_.size())
        throw Error("kernel " + function_ + " takes " + std::to_string(sizes_.size()) + " arguments, not " +
                    std::to_string(arguments.size()));
    Guard lock(mutex_);
    for (std::size_t i = 0; i < sizes_.size(); i++)
        Icd::check(icd.set_argument(kernel_, static_cast<cl_uint>(i), sizes_[i], arguments[i]), "clSetKernelArg");
    Icd::check(icd.run(queue, kernel_, 3, nullptr, global, local, 0, nullptr, nullptr), "clEnqueueNDRangeKernel");
}

} // namespace ptsched::device
