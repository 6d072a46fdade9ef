// SPDX-License-Identifier: MIT
// The driver library of the virtual GPU, on a daemon of the test's own; or on vgpu.ko, if that is loaded.
#include "test_libcuda.h"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace test {

std::string folder()
{
    return std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path() / "vgpu";
}

Context::Context(int device)
{
    CU(cuCtxCreate_v2(&handle, 0, device));
    CU(cuModuleLoad(&module, (folder() + "/kernels.so").c_str()));
    CU(cuModuleGetFunction(&spin, module, "spin"));
    CU(cuModuleGetFunction(&vector_add, module, "vector_add"));
    CU(cuModuleGetFunction(&matmul, module, "matmul"));
    CU(cuModuleGetFunction(&count, module, "count"));
    CU(cuModuleGetFunction(&wait_for_host, module, "wait_for_host"));
}

Context::~Context()
{
    cuCtxSetCurrent(handle);
    cuModuleUnload(module);
    CU(cuCtxDestroy_v2(handle));
}

CUresult launch_count(const Context &context, CUdeviceptr counter, unsigned int value, CUstream stream)
{
    void *params[] = {&counter, &value};
    return cuLaunchKernel(context.count, 1, 1, 1, 1, 1, 1, 0, stream, params, nullptr);
}

CUresult launch_spin(const Context &context, CUdeviceptr out, unsigned long long ns, CUstream stream,
                     unsigned int threads, unsigned int steps)
{
    void *params[] = {&out, &ns, &steps};
    return cuLaunchKernel(context.spin, 1, 1, 1, threads, 1, 1, 0, stream, params, nullptr);
}

unsigned int spin_result(unsigned int thread, unsigned int steps)
{
    unsigned int x = thread;
    for (unsigned int i = 0; i < steps; i++)
        x = x * 1664525u + 1013904223u;
    return x;
}

namespace {

/* vgpud on a private socket; ends with the test, however that ends. */
class Daemon {
public:
    Daemon()
    {
        std::string name = "/tmp/vgpu-test-XXXXXX";
        int ready[2];
        char line;

        if (!mkdtemp(name.data()) || pipe(ready) < 0)
            throw std::runtime_error("cannot prepare for vgpud");
        directory_ = name;
        std::string socket = directory_ + "/socket", program = folder() + "/vgpud", fd = std::to_string(ready[1]);
        pid_ = fork();
        if (pid_ == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            close(ready[0]);
            execl(program.c_str(), "vgpud", "--socket", socket.c_str(), "--devices", "2", "--ready-fd", fd.c_str(),
                  nullptr);
            _exit(127);
        }
        close(ready[1]);
        if (read(ready[0], &line, 1) != 1)
            throw std::runtime_error(program + " did not start");
        close(ready[0]);
        setenv("PTSCHED_VGPU_SOCKET", socket.c_str(), 1);
    }

    ~Daemon()
    {
        kill(pid_, SIGTERM);
        waitpid(pid_, nullptr, 0);
        std::filesystem::remove_all(directory_);
    }
    Daemon(const Daemon &) = delete;
    Daemon &operator=(const Daemon &) = delete;

private:
    std::string directory_;
    pid_t pid_ = -1;
};

} // namespace

} // namespace test

int main()
{
    std::unique_ptr<test::Daemon> daemon;
    std::vector<tap::Case> cases;

    try {
        if (access("/dev/vgpu", F_OK) < 0)
            daemon = std::make_unique<test::Daemon>();
    } catch (const std::exception &error) {
        std::printf("Bail out! %s\n", error.what());
        return 1;
    }
    test::add_process_cases(cases);
    test::add_basic_cases(cases);
    test::add_order_cases(cases);
    test::add_graph_cases(cases);
    return tap::run(cases);
}
