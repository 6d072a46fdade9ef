/* SPDX-License-Identifier: MIT */
/* The functions of OpenCL that devices use, found when the first is asked for: there need not be a library. */
#ifndef PTSCHED_DEVICE_ICD_HPP
#define PTSCHED_DEVICE_ICD_HPP

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <string>

namespace ptsched::device {

/* F(member, exported name) for each. */
#define PTSCHED_DEVICE_ICD(F)                                                                                          \
    F(platforms, clGetPlatformIDs)                                                                                     \
    F(devices, clGetDeviceIDs)                                                                                         \
    F(device_info, clGetDeviceInfo)                                                                                    \
    F(create_context, clCreateContext)                                                                                 \
    F(create_queue, clCreateCommandQueue)                                                                              \
    F(release_queue, clReleaseCommandQueue)                                                                            \
    F(create_buffer, clCreateBuffer)                                                                                   \
    F(release_buffer, clReleaseMemObject)                                                                              \
    F(write, clEnqueueWriteBuffer)                                                                                     \
    F(read, clEnqueueReadBuffer)                                                                                       \
    F(copy, clEnqueueCopyBuffer)                                                                                       \
    F(run, clEnqueueNDRangeKernel)                                                                                     \
    F(mark, clEnqueueMarkerWithWaitList)                                                                               \
    F(barrier, clEnqueueBarrierWithWaitList)                                                                           \
    F(flush, clFlush)                                                                                                  \
    F(finish, clFinish)                                                                                                \
    F(event_info, clGetEventInfo)                                                                                      \
    F(wait, clWaitForEvents)                                                                                           \
    F(release_event, clReleaseEvent)                                                                                   \
    F(create_program, clCreateProgramWithSource)                                                                       \
    F(build, clBuildProgram)                                                                                           \
    F(build_info, clGetProgramBuildInfo)                                                                               \
    F(release_program, clReleaseProgram)                                                                               \
    F(create_kernel, clCreateKernel)                                                                                   \
    F(kernel_info, clGetKernelInfo)                                                                                    \
    F(group_info, clGetKernelWorkGroupInfo)                                                                            \
    F(argument_info, clGetKernelArgInfo)                                                                               \
    F(set_argument, clSetKernelArg)                                                                                    \
    F(release_kernel, clReleaseKernel)

struct Icd {
#define PTSCHED_DEVICE_MEMBER(member, symbol) decltype(&::symbol) member;
    PTSCHED_DEVICE_ICD(PTSCHED_DEVICE_MEMBER)
#undef PTSCHED_DEVICE_MEMBER

    /* Null if there is no library. */
    static const Icd *get();
    /* "@doing: CL_Y" */
    [[noreturn]] static void fail(cl_int error, const std::string &doing);
    static void check(cl_int error, const char *doing)
    {
        if (error != CL_SUCCESS)
            fail(error, doing);
    }
};

} // namespace ptsched::device

#endif /* PTSCHED_DEVICE_ICD_HPP */
