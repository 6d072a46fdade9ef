/* SPDX-License-Identifier: MIT */
#ifndef VGPU_TEST_DAEMON_H
#define VGPU_TEST_DAEMON_H

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace test {

/* The folder with vgpud, libcuda.so.1 and kernels.so. */
inline std::string folder()
{
    return std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path() / "vgpu";
}

/* The kernels of tests/vgpu/programs/kernels.cu. */
inline std::string kernels()
{
    return folder() + "/kernels.so";
}

/* vgpud on a private socket; ends with the test, however that ends. */
class Daemon {
public:
    explicit Daemon(unsigned devices = 2)
    {
        std::string name = "/tmp/vgpu-test-XXXXXX";
        int ready[2];
        char line;

        if (!mkdtemp(name.data()) || pipe(ready) < 0)
            throw std::runtime_error("cannot prepare for vgpud");
        directory_ = name;
        std::string socket = directory_ + "/socket", program = folder() + "/vgpud", fd = std::to_string(ready[1]),
                    count = std::to_string(devices);
        pid_ = fork();
        if (pid_ == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            close(ready[0]);
            execl(program.c_str(), "vgpud", "--socket", socket.c_str(), "--devices", count.c_str(), "--ready-fd",
                  fd.c_str(), nullptr);
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

} // namespace test

#endif /* VGPU_TEST_DAEMON_H */
