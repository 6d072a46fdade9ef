// SPDX-License-Identifier: MIT
/*
 * A CUDA program for the tests of the interposer: each scenario prints what it computed, and nothing that depends on
 * time, so that its output must be the same with the interposer, without, alone and in company.
 */
#include "libptsched/cuda/cuda_abi.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <poll.h>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

void check(CUresult result, const char *what)
{
    if (result == CUDA_SUCCESS)
        return;
    std::printf("%s: error %d\n", what, static_cast<int>(result));
    std::fflush(stdout);
    _exit(1);
}
#define CU(call) check(call, #call)

constexpr unsigned count = 64;

/* A device's primary context, current in this thread, and the test kernels. */
struct Gpu {
    CUcontext context;
    CUmodule module;
    CUfunction spin, add, increase;

    explicit Gpu(int ordinal = 0)
    {
        CUdevice device;
        CU(cuInit(0));
        CU(cuDeviceGet(&device, ordinal));
        CU(cuDevicePrimaryCtxRetain(&context, device));
        CU(cuCtxSetCurrent(context));
        std::string kernels = std::string(std::getenv("PTSCHED_TEST_KERNELS"));
        CU(cuModuleLoad(&module, kernels.c_str()));
        CU(cuModuleGetFunction(&spin, module, "spin"));
        CU(cuModuleGetFunction(&add, module, "vector_add"));
        CU(cuModuleGetFunction(&increase, module, "count"));
    }
};

struct Vectors {
    CUdeviceptr a, b, c;
    unsigned n = count;
    void *params[4] = {&a, &b, &c, &n};

    Vectors()
    {
        std::vector<float> host(count);
        for (CUdeviceptr *p : {&a, &b, &c})
            CU(cuMemAlloc_v2(p, count * sizeof(float)));
        for (unsigned i = 0; i < count; i++)
            host[i] = static_cast<float>(i);
        CU(cuMemcpyHtoD_v2(a, host.data(), count * sizeof(float)));
        for (unsigned i = 0; i < count; i++)
            host[i] = static_cast<float>(100 * i);
        CU(cuMemcpyHtoD_v2(b, host.data(), count * sizeof(float)));
    }
    void clear() { CU(cuMemsetD8_v2(c, 0, count * sizeof(float))); }
    void print(const char *what)
    {
        std::vector<float> host(count);
        CU(cuCtxSynchronize());
        CU(cuMemcpyDtoH_v2(host.data(), c, count * sizeof(float)));
        double sum = 0;
        for (float x : host)
            sum += static_cast<double>(x);
        std::printf("%s: %.1f\n", what, sum);
    }
};

template <class Fn> Fn *resolve(const char *name, int version, std::uint64_t flags)
{
    void *function = nullptr;
    CU(cuGetProcAddress_v2(name, &function, version, flags, nullptr));
    return reinterpret_cast<Fn *>(function);
}

void launches()
{
    Gpu gpu;
    Vectors v;
    CUstream stream;
    CU(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    for (CUstream s : {CUstream(nullptr), CU_STREAM_LEGACY, CU_STREAM_PER_THREAD, stream}) {
        v.clear();
        CU(cuLaunchKernel(gpu.add, 1, 1, 1, count, 1, 1, 0, s, v.params, nullptr));
        v.print("launch");
        v.clear();
        CU(cuLaunchKernel_ptsz(gpu.add, 1, 1, 1, count, 1, 1, 0, s, v.params, nullptr));
        v.print("launch, per-thread default stream");
        v.clear();
        CUlaunchConfig config{};
        config.gridDimX = config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
        config.blockDimX = count;
        config.hStream = s;
        CU(cuLaunchKernelEx(&config, gpu.add, v.params, nullptr));
        v.print("launch with a configuration");
        v.clear();
        CU(cuLaunchCooperativeKernel(gpu.add, 1, 1, 1, count, 1, 1, 0, s, v.params));
        v.print("cooperative launch");
    }
    for (std::uint64_t flags : {0, 1, 2}) {
        using Launch = CUresult(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                                CUstream, void **, void **);
        v.clear();
        CU(resolve<Launch>("cuLaunchKernel", 12000, flags)(gpu.add, 1, 1, 1, count, 1, 1, 0, nullptr, v.params,
                                                           nullptr));
        v.print("launch through cuGetProcAddress");
    }
    CU(cuStreamDestroy_v2(stream));
}

void copies()
{
    Gpu gpu;
    CUdeviceptr a, b;
    CUstream stream;
    std::vector<unsigned> host(count), back(count);
    for (unsigned i = 0; i < count; i++)
        host[i] = i * i;
    auto print = [&](const char *what) {
        CU(cuCtxSynchronize());
        unsigned long sum = 0;
        CU(cuMemcpyDtoH_v2(back.data(), b, count * 4));
        for (unsigned i = 0; i < count; i++)
            sum += back[i] * (i + 1ul);
        std::printf("%s: %lu\n", what, sum);
    };
    CU(cuMemAlloc_v2(&a, count * 4));
    CU(cuMemAlloc_v2(&b, count * 4));
    CU(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
    CU(cuMemcpyHtoD_v2(a, host.data(), count * 4));
    CU(cuMemcpyDtoD_v2(b, a, count * 4));
    print("copies that wait");
    CU(cuMemsetD32_v2(b, 7, count));
    print("fill that waits");
    CU(cuMemcpyHtoDAsync_v2(a, host.data(), count * 4, stream));
    CU(cuMemcpyDtoDAsync_v2(b, a, count * 4, stream));
    CU(cuStreamSynchronize(stream));
    print("copies in a stream");
    CU(cuMemsetD8Async(b, 3, count * 4, stream));
    CU(cuStreamSynchronize(stream));
    print("fill in a stream");
    CU(cuMemcpyAsync(b, a, count * 4, nullptr));
    print("copy in the default stream");
    CU(cuMemsetD2D32_v2(b, 4 * 8, 9, 4, count / 8));
    print("fill of a rectangle");
    CUDA_MEMCPY2D rectangle{};
    rectangle.srcMemoryType = rectangle.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    rectangle.srcDevice = a;
    rectangle.dstDevice = b;
    rectangle.srcPitch = rectangle.dstPitch = 32;
    rectangle.WidthInBytes = 16;
    rectangle.Height = count / 8;
    CU(cuMemcpy2D_v2(&rectangle));
    print("copy of a rectangle");
}

void graphs()
{
    Gpu gpu;
    CUdeviceptr counter;
    CU(cuMemAlloc_v2(&counter, 4));
    CU(cuMemsetD32_v2(counter, 0, 1));
    unsigned value = 1;
    void *params[] = {&counter, &value};
    for (CUstreamCaptureMode mode :
         {CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, CU_STREAM_CAPTURE_MODE_RELAXED}) {
        CUstream stream, side;
        CUevent fork, join;
        CUgraph graph;
        CUgraphExec exec;
        CU(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
        CU(cuStreamCreate(&side, CU_STREAM_NON_BLOCKING));
        CU(cuEventCreate(&fork, CU_EVENT_DISABLE_TIMING));
        CU(cuEventCreate(&join, CU_EVENT_DISABLE_TIMING));
        /* Both have been used before, so that the agent knows them. */
        for (CUstream s : {stream, side})
            CU(cuLaunchKernel(gpu.increase, 1, 1, 1, 1, 1, 1, 0, s, params, nullptr));
        for (int round = 0; round < 20; round++) {
            CU(cuStreamBeginCapture_v2(stream, mode));
            for (int i = 0; i < 5; i++)
                CU(cuLaunchKernel(gpu.increase, 1, 1, 1, 1, 1, 1, 0, stream, params, nullptr));
            CU(cuEventRecord(fork, stream));
            CU(cuStreamWaitEvent(side, fork, 0));
            CU(cuLaunchKernel(gpu.increase, 1, 1, 1, 1, 1, 1, 0, side, params, nullptr));
            CU(cuEventRecord(join, side));
            CU(cuStreamWaitEvent(stream, join, 0));
            CU(cuLaunchKernel(gpu.increase, 1, 1, 1, 1, 1, 1, 0, stream, params, nullptr));
            CU(cuStreamEndCapture(stream, &graph));
            std::size_t nodes = 0;
            CU(cuGraphGetNodes(graph, nullptr, &nodes));
            if (round % 5 == 0)
                std::printf("mode %d: %zu nodes\n", static_cast<int>(mode), nodes);
            CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
            for (int i = 0; i < 3; i++)
                CU(cuGraphLaunch(exec, stream));
            CU(cuStreamSynchronize(stream));
            CU(cuGraphExecDestroy(exec));
            CU(cuGraphDestroy(graph));
        }
        CU(cuCtxSynchronize());
        unsigned result = 0;
        CU(cuMemcpyDtoH_v2(&result, counter, 4));
        std::printf("mode %d: counted %u\n", static_cast<int>(mode), result);
        CU(cuStreamDestroy_v2(stream));
        CU(cuStreamDestroy_v2(side));
    }
}

void threads()
{
    constexpr int threads = 6, each = 60;
    Gpu gpus[2] = {Gpu(0), Gpu(1)};
    CUdeviceptr counters[2];
    for (int d = 0; d < 2; d++) {
        CU(cuCtxSetCurrent(gpus[d].context));
        CU(cuMemAlloc_v2(&counters[d], 4));
        CU(cuMemsetD32_v2(counters[d], 0, 1));
    }
    std::vector<std::thread> running;
    for (int t = 0; t < threads; t++) {
        running.emplace_back([&, t] {
            Gpu &gpu = gpus[t % 2];
            CU(cuCtxSetCurrent(gpu.context));
            CUstream stream = nullptr;
            if (t / 2 == 1)
                CU(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
            if (t / 2 == 2)
                stream = CU_STREAM_PER_THREAD;
            unsigned value = static_cast<unsigned>(t) + 1;
            void *params[] = {&counters[t % 2], &value};
            for (int i = 0; i < each; i++) {
                CU(cuLaunchKernel(gpu.increase, 1, 1, 1, 1, 1, 1, 0, stream, params, nullptr));
                if (i % 20 == 19)
                    CU(cuStreamSynchronize(stream));
            }
            CU(cuStreamSynchronize(stream));
            if (t / 2 == 1)
                CU(cuStreamDestroy_v2(stream));
        });
    }
    for (std::thread &thread : running)
        thread.join();
    for (int d = 0; d < 2; d++) {
        unsigned result = 0;
        CU(cuCtxSetCurrent(gpus[d].context));
        CU(cuMemcpyDtoH_v2(&result, counters[d], 4));
        std::printf("device %d: counted %u\n", d, result);
    }
}

/* A library that many programs are: it forks workers, which then use the GPU themselves. */
void forks()
{
    std::fflush(stdout);
    for (int i = 0; i < 2; i++) {
        pid_t child = fork();
        if (!child) {
            std::printf("child %d\n", i);
            copies();
            std::fflush(stdout);
            std::exit(0);
        }
        int status = -1;
        waitpid(child, &status, 0);
        std::printf("child ended with %d\n", status);
    }
    std::fflush(stdout);
}

/* The parent uses the GPU, forks a child that runs this program anew, and goes on. */
void execs(char **argv)
{
    launches();
    std::fflush(stdout);
    pid_t child = fork();
    if (!child) {
        execl("/proc/self/exe", argv[0], "copies", nullptr);
        _exit(127);
    }
    int status = -1;
    waitpid(child, &status, 0);
    std::printf("child ended with %d\n", status);
    launches();
}

/* Whose streams belong to a context that ends with it. */
void in_a_green_context(CUdevice device)
{
    Gpu gpu(device);
    CUgreenCtx green;
    CUstream stream;
    CUdeviceptr counter;
    unsigned value = 1;
    void *params[] = {&counter, &value};
    CU(cuMemAlloc_v2(&counter, 4));
    CU(cuGreenCtxCreate(&green, nullptr, device, CU_GREEN_CTX_DEFAULT_STREAM));
    CU(cuGreenCtxStreamCreate(&stream, green, CU_STREAM_NON_BLOCKING, 0));
    for (int i = 0; i < 10; i++)
        CU(cuLaunchKernel(gpu.increase, 1, 1, 1, 1, 1, 1, 0, stream, params, nullptr));
    CU(cuStreamSynchronize(stream));
    CU(cuStreamDestroy_v2(stream));
    CU(cuGreenCtxDestroy(green));
    CU(cuLaunchKernel(gpu.increase, 1, 1, 1, 1, 1, 1, 0, nullptr, params, nullptr));
    CU(cuCtxSynchronize());
    CU(cuDevicePrimaryCtxRelease_v2(device));
}

/* Contexts and streams come and go with work behind them. */
void lives()
{
    CUdevice device;
    CU(cuInit(0));
    CU(cuDeviceGet(&device, 0));
    for (int round = 0; round < 10; round++) {
        Gpu gpu;
        {
            Vectors v;
            CUstream stream;
            CU(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
            v.clear();
            CU(cuCtxSynchronize());
            CU(cuLaunchKernel(gpu.add, 1, 1, 1, count, 1, 1, 0, stream, v.params, nullptr));
            CU(cuStreamDestroy_v2(stream));
            v.print("after the stream");
        }
        CU(cuModuleUnload(gpu.module));
        CU(round % 2 ? cuDevicePrimaryCtxRelease_v2(device) : cuDevicePrimaryCtxReset_v2(device));
        CUcontext own;
        CU(cuCtxCreate_v2(&own, 0, device));
        CUdeviceptr p;
        CU(cuMemAlloc_v2(&p, 4096));
        CU(cuMemsetD8_v2(p, 1, 4096));
        CU(cuCtxDestroy_v2(own));
        in_a_green_context(device);
        std::printf("round %d\n", round);
    }
}

/*
 * One kernel after another, @depth in flight: spin [kernels] [microseconds] [depth] [factor]; 0 kernels: until standard
 * input ends; each lasts @factor times as long as the one before it.
 */
void spin(int argc, char **argv)
{
    unsigned long kernels = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 100;
    unsigned long long ns = (argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1000) * 1000;
    unsigned long depth = argc > 4 ? std::strtoul(argv[4], nullptr, 10) : 1;
    unsigned long factor = argc > 5 ? std::strtoul(argv[5], nullptr, 10) : 1;
    int pause_ms = argc > 6 ? std::atoi(argv[6]) : 0;
    std::atomic<bool> ended{false};
    std::thread reader([&] {
        char byte;
        while (!kernels && read(STDIN_FILENO, &byte, 1) > 0) {
        }
        ended = true;
    });
    Gpu gpu;
    CUdeviceptr out;
    unsigned steps = 64;
    std::size_t before = 0, after = 0, total = 0;
    CU(cuMemAlloc_v2(&out, 4));
    CU(cuMemGetInfo_v2(&before, &total));
    void *params[] = {&out, &ns, &steps};
    unsigned long i = 0;
    for (; kernels ? i < kernels : !ended; i++, ns *= factor) {
        CU(cuLaunchKernel(gpu.spin, 1, 1, 1, 1, 1, 1, 0, nullptr, params, nullptr));
        if (i == 0) {
            std::printf("started\n");
            std::fflush(stdout);
        }
        if (i % depth == depth - 1) {
            CU(cuStreamSynchronize(nullptr));
            poll(nullptr, 0, pause_ms);
        }
    }
    unsigned result = 0;
    CU(cuMemcpyDtoH_v2(&result, out, 4));
    CU(cuMemGetInfo_v2(&after, &total));
    std::printf("spun %u, bytes of memory taken by others %zu\n", result, before - after);
    reader.join();
}

/* One vector_add, whose result is checked; nothing is printed. */
void add_once(Gpu &gpu, Vectors &v)
{
    std::vector<float> host(count);
    v.clear();
    CU(cuLaunchKernel(gpu.add, 1, 1, 1, count, 1, 1, 0, nullptr, v.params, nullptr));
    CU(cuCtxSynchronize());
    CU(cuMemcpyDtoH_v2(host.data(), v.c, count * sizeof(float)));
    for (unsigned i = 0; i < count; i++)
        check(host[i] == static_cast<float>(101 * i) ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN, "the sum");
}

/*
 * As a service does, or who silences a library: the standard streams are closed before the first submission, and files
 * of the program's own come in their place, to which it writes all the while. They must have what it wrote, and no
 * more.
 */
void streams()
{
    constexpr char line[] = "a line of the program's\n";
    constexpr int rounds = 50;
    Gpu gpu;
    int out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 100);
    for (int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        close(fd);
    Vectors v;
    add_once(gpu, v);
    int files[3];
    for (int &file : files)
        file = memfd_create("own", MFD_CLOEXEC);
    for (int round = 0; round < rounds; round++) {
        add_once(gpu, v);
        for (int file : files)
            check(write(file, line, sizeof(line) - 1) > 0 ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN, "write");
    }
    for (int i = 0; i < 3; i++) {
        std::string text(rounds * sizeof(line) * 2, '\0');
        ssize_t got = pread(files[i], text.data(), text.size(), 0);
        std::string expected;
        for (int round = 0; round < rounds; round++)
            expected += line;
        bool same = got == static_cast<ssize_t>(expected.size()) && text.compare(0, expected.size(), expected) == 0;
        dprintf(out, "file %d is number %d and %s\n", i, files[i],
                same ? "has what was written" : "has something else");
    }
}

/* Standard output is away around the first submission, and put back. */
void silence()
{
    Gpu gpu;
    Vectors v;
    int saved = dup(STDOUT_FILENO);
    close(STDOUT_FILENO);
    add_once(gpu, v);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    for (int round = 0; round < 50; round++)
        add_once(gpu, v);
    std::printf("heard again\n");
}

/* The first submission is made in another folder than that of the start. */
void elsewhere()
{
    Gpu gpu;
    check(chdir("/") == 0 ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN, "chdir");
    Vectors v;
    add_once(gpu, v);
    std::printf("added\n");
}

/* One submission to each of two devices. */
void both_devices()
{
    for (int ordinal : {0, 1}) {
        Gpu gpu(ordinal);
        Vectors v;
        add_once(gpu, v);
    }
    std::printf("added on both\n");
}

/* Closes all that has a high number, and then has a file of its own under each. */
void takes_numbers()
{
    Gpu gpu;
    Vectors v;
    add_once(gpu, v);
    int own = memfd_create("own", 0);
    for (int fd = 200; fd < 1024; fd++)
        dup2(own, fd);
    for (int round = 0; round < 50; round++)
        add_once(gpu, v);
    struct stat status {};
    fstat(own, &status);
    unsigned kept = 0;
    for (int fd = 200; fd < 1024; fd++)
        kept += fcntl(fd, F_GETFD) >= 0;
    std::printf("%u files, of %ld bytes\n", kept, static_cast<long>(status.st_size));
}

} // namespace

int main(int argc, char **argv)
{
    std::string scenario = argc > 1 ? argv[1] : "";
    std::map<std::string, void (*)()> plain = {{"launches", launches},
                                               {"copies", copies},
                                               {"graphs", graphs},
                                               {"threads", threads},
                                               {"forks", forks},
                                               {"lives", lives},
                                               {"streams", streams},
                                               {"silence", silence},
                                               {"elsewhere", elsewhere},
                                               {"both-devices", both_devices},
                                               {"takes-numbers", takes_numbers}};
    if (plain.count(scenario))
        plain[scenario]();
    else if (scenario == "execs")
        execs(argv);
    else if (scenario == "spin")
        spin(argc, argv);
    else {
        std::fprintf(stderr, "usage: preload-client "
                             "launches|copies|graphs|threads|forks|execs|lives|streams|silence|elsewhere|both-devices|"
                             "takes-numbers|spin\n");
        return 2;
    }
    return 0;
}
