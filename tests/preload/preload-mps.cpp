// SPDX-License-Identifier: MIT
/*
 * Programs whose kernels run beside those of other clients of an MPS server: how they take turns, what they are
 * charged.
 */
#include "tests/preload/by_hand.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sched.h>
#include <string>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>

namespace {

constexpr unsigned device_blocks = HAND_MULTIPROCESSORS * HAND_BLOCKS_AT_ONCE;

CUresult launch_blocks(unsigned blocks)
{
    auto function = reinterpret_cast<CUfunction>(std::uintptr_t{1});
    return cuLaunchKernel(function, blocks, 1, 1, 128, 1, 1, 0, nullptr, nullptr, nullptr);
}

/* As many and as far apart as it takes until all before them has been forgotten. */
void launch_for_long(unsigned blocks)
{
    for (int i = 0; i < 100; i++) {
        launch_blocks(blocks);
        pass_ms(20);
    }
}

/* A process of the server's name, and a socket of this one that leads to it. */
class Server {
public:
    explicit Server(const char *name)
    {
        int listening = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), ready[2];
        CHECK_EQ(pipe(ready), 0);
        pid_ = fork_when_all_sleep();
        if (!pid_) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            prctl(PR_SET_NAME, name);
            /* Without a name, the kernel gives it one. */
            sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
            bool listens = !bind(listening, reinterpret_cast<sockaddr *>(&address), sizeof(sa_family_t)) &&
                           !listen(listening, 1) && write(ready[1], "r", 1) == 1;
            while (listens)
                pause();
            _exit(1);
        }
        char byte;
        CHECK_EQ(read(ready[0], &byte, 1), 1l);
        sockaddr_un address{};
        socklen_t size = sizeof(address);
        CHECK_EQ(getsockname(listening, reinterpret_cast<sockaddr *>(&address), &size), 0);
        connected_ = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
        CHECK_EQ(connect(connected_, reinterpret_cast<sockaddr *>(&address), size), 0);
        for (int fd : {listening, ready[0], ready[1]})
            close(fd);
    }
    ~Server()
    {
        close(connected_);
        kill(pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
    }
    Server(const Server &) = delete;
    Server &operator=(const Server &) = delete;

private:
    pid_t pid_;
    int connected_;
};

void who_leaves_room_has_slices()
{
    Server server("nvidia-cuda-mps-server");
    in_a_child([] {
        launch_for_long(device_blocks / 8);
        bool right = scheduler->mechanism() == PTSCHED_MECHANISM_SLICE;
        /* What the hardware has for all of them is left alone. */
        scheduler->change(contended | PTSCHED_STATE_OUTWEIGHED, 0);
        scheduler->await_acknowledged();
        launch_for_long(8 * device_blocks);
        scheduler->change(wanted, 0);
        scheduler->await_acknowledged();
        right = right && scheduler->mechanism() == PTSCHED_MECHANISM_GATE;
        scheduler->change(0, wanted | contended | PTSCHED_STATE_OUTWEIGHED);
        launch_for_long(device_blocks / 8);
        scheduler->change(contended, 0);
        scheduler->await_acknowledged();
        return right && scheduler->mechanism() == PTSCHED_MECHANISM_SLICE;
    });
}

void it_is_charged_what_it_fills()
{
    Server server("nvidia-cuda-mps-server");
    in_a_child([] {
        launch_blocks(device_blocks / 4);
        give_back();
        constexpr unsigned long long count = 40, of_each_ns = 1000000 / 4;
        unsigned long long before = scheduler->gpu_ns();
        scheduler->change(contended, 0);
        for (unsigned long long i = 0; i < count; i++)
            launch_blocks(device_blocks / 4);
        give_back();
        unsigned long long charged_ns = scheduler->gpu_ns() - before;
        std::printf("# %llu ns charged for %llu\n", charged_ns, count * of_each_ns);
        return charged_ns == count * of_each_ns;
    });
}

void others_servers_are_none()
{
    Server server("nvidia-other");
    in_a_child([] {
        launch_for_long(device_blocks / 8);
        give_back();
        unsigned long long before = scheduler->gpu_ns();
        scheduler->change(contended, 0);
        launch_blocks(device_blocks / 8);
        give_back();
        return scheduler->mechanism() == PTSCHED_MECHANISM_GATE && scheduler->gpu_ns() - before == 1000000;
    });
}

/*
 * Its socket leads out of the pid namespace, where nobody has a name. Then it counts whether there is a server to find.
 */
bool is_client_in_another_namespace(bool finds_server)
{
    char folder[] = "/tmp/ptsched-test-XXXXXX";
    if (!mkdtemp(folder))
        return false;
    const std::string control = std::string(folder) + "/control";
    if (finds_server)
        close(open(control.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    setenv("CUDA_MPS_PIPE_DIRECTORY", folder, 1);
    pid_t child = fork_when_all_sleep();
    if (!child) {
        launch_for_long(device_blocks / 8);
        _exit(scheduler->mechanism() == PTSCHED_MECHANISM_SLICE ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    unlink(control.c_str());
    rmdir(folder);
    return !status;
}

void a_server_that_cannot_be_seen_is_one()
{
    Server server("nvidia-cuda-mps-server");
    for (bool finds_server : {false, true}) {
        in_a_child([finds_server] {
            /* The namespace is its children's. */
            return !unshare(CLONE_NEWPID) && is_client_in_another_namespace(finds_server) == finds_server;
        });
    }
}

/* Empty: there can be one. */
std::string why_no_pid_namespace()
{
    pid_t child = fork_when_all_sleep();
    if (!child)
        _exit(unshare(CLONE_NEWPID) ? errno : 0);
    int status = 0;
    waitpid(child, &status, 0);
    return status ? std::string("no pid namespace: ") + std::strerror(WEXITSTATUS(status)) : "";
}

} // namespace

int main(int, char **argv)
{
    run_by_hand(argv);
    return tap::run({
        {"a client of MPS that leaves room has slices, as long as it does", who_leaves_room_has_slices},
        {"it is charged for the part of the device that it fills", it_is_charged_what_it_fills},
        {"in another pid namespace it is a client where clients find a server", a_server_that_cannot_be_seen_is_one,
         why_no_pid_namespace()},
        {"who has a socket to somebody else has the device for itself", others_servers_are_none},
    });
}
