// SPDX-License-Identifier: MIT
/* Clients that fork and die, and what the engine says it did for whom. */
#include "tests/vgpu/libcuda/link.h"
#include "tests/vgpu/test_libcuda.h"

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <linux/sockios.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace test {

namespace {

std::vector<vgpu_owner_stats> owners(vgpu::Link &link)
{
    vgpu_device_stats stats{};
    std::vector<vgpu_owner_stats> result;

    CHECK_EQ(link.stats(stats, result), 0);
    return result;
}

vgpu_owner_stats owner(vgpu::Link &link, pid_t pid)
{
    for (const auto &each : owners(link))
        if (each.pid == static_cast<std::uint32_t>(pid))
            return each;
    return {};
}

void before_init()
{
    int count = 0;
    CUcontext context;

    CU_IS(cuDeviceGetCount(&count), CUDA_ERROR_NOT_INITIALIZED);
    CU_IS(cuCtxGetCurrent(&context), CUDA_ERROR_NOT_INITIALIZED);
    CU_IS(cuInit(1), CUDA_ERROR_INVALID_VALUE);
    CU(cuInit(0));
    CU(cuInit(0));
}

void fork_after_init()
{
    Context context;
    Pinned<unsigned int> out(1);

    pid_t child = fork();
    if (child == 0) {
        int count;
        bool refused = cuInit(0) == CUDA_ERROR_NOT_INITIALIZED &&
                       cuDeviceGetCount(&count) == CUDA_ERROR_NOT_INITIALIZED &&
                       cuLaunchHostFunc(nullptr, nullptr, nullptr) == CUDA_ERROR_NOT_INITIALIZED;
        _exit(refused ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    CHECK_EQ(status, 0);
    CU(launch_spin(context, out.device, 1000, nullptr));
    CU(cuCtxSynchronize());
    CHECK_EQ(out.host[0], spin_result(0));
}

/* A client with an hour of work is killed: nothing of it stays, and others run at once. */
void killed_client()
{
    auto link = vgpu::open_link();
    if (!CHECK(link))
        return;
    for (int round = 0; round < 10; round++) {
        pid_t child = fork();
        if (child == 0) {
            std::string program = folder() + "/inversion-client", library = folder();
            setenv("LD_LIBRARY_PATH", library.c_str(), 1);
            execl(program.c_str(), program.c_str(), "--kernel-us", "3600000000", "--seconds", "3600", nullptr);
            _exit(127);
        }
        /* Sometimes when it is running, sometimes on its way there. */
        while (round % 2 == 0 && owner(*link, child).busy_ns[0] == 0 && waitpid(child, nullptr, WNOHANG) == 0)
            sched_yield();
        kill(child, SIGKILL);
        waitpid(child, nullptr, 0);
        while (owner(*link, child).contexts)
            sched_yield();
    }
    Context context;
    Pinned<unsigned int> out(1);
    CU(launch_spin(context, out.device, 1000, nullptr));
    CU(cuCtxSynchronize());
    CHECK_EQ(out.host[0], spin_result(0));
}

/* The daemon finds a client's hang-up, a new client and the former's death at once. */
void new_client_beside_a_dying_one()
{
    auto link = vgpu::open_link();
    ucred daemon{};
    socklen_t size = sizeof(daemon);
    int to_child[2] = {-1, -1}, from_child[2] = {-1, -1};
    char byte = 0;

    if (!CHECK(link && !getsockopt(link->fd(), SOL_SOCKET, SO_PEERCRED, &daemon, &size)) ||
        !CHECK(!pipe(to_child) && !pipe(from_child)))
        return;
    pid_t child = fork();
    if (child == 0) {
        auto dying = vgpu::open_link();
        vgpu_info info{};
        bool ok = dying && !dying->info(info) && write(from_child[1], &byte, 1) == 1;
        ok = ok && read(to_child[0], &byte, 1) == 1;
        dying.reset();
        ok = ok && write(from_child[1], &byte, 1) == 1 && read(to_child[0], &byte, 1) == 1;
        _exit(ok ? 0 : 1);
    }
    CHECK_EQ(read(from_child[0], &byte, 1), 1);
    kill(daemon.pid, SIGSTOP);
    waitpid(daemon.pid, nullptr, WUNTRACED);
    CHECK_EQ(write(to_child[1], &byte, 1), 1);
    CHECK_EQ(read(from_child[0], &byte, 1), 1);
    auto arrived = vgpu::open_link();
    CHECK_EQ(write(to_child[1], &byte, 1), 1);
    int status = -1;
    waitpid(child, &status, 0);
    CHECK_EQ(status, 0);
    kill(daemon.pid, SIGCONT);
    vgpu_info info{};
    CHECK(arrived && arrived->info(info) == 0);
    for (int fd : {to_child[0], to_child[1], from_child[0], from_child[1]})
        close(fd);
}

void accounts()
{
    constexpr unsigned int kernels = 20;
    constexpr std::uint64_t ns = 250000;
    auto link = vgpu::open_link();
    if (!CHECK(link))
        return;
    vgpu_info info{};
    CHECK_EQ(link->info(info), 0);
    CHECK_EQ(link->reset_stats(), 0);
    {
        Context context;
        Stream stream;
        Pinned<unsigned int> out(1);
        for (unsigned int i = 0; i < kernels; i++)
            CU(launch_spin(context, out.device, ns, stream));
        CU(cuCtxSynchronize());
        CHECK_EQ(owner(*link, getpid()).busy_ns[0], kernels * ns * info.scale);
        CHECK_EQ(owner(*link, getpid()).contexts, 1u);
    }
    /*
     * On two channels the union is less than the sum, and not less than the longest; both begin at once, who is slow or
     * not.
     */
    CHECK_EQ(link->reset_stats(), 0);
    vgpu_context_create context{};
    CHECK_EQ(link->create_context(context), 0);
    vgpu_channel_create one{context.context, 0, 0, 0}, two{context.context, 0, 0, 0};
    CHECK_EQ(link->create_channel(one), 0);
    CHECK_EQ(link->create_channel(two), 0);
    vgpu_work works[] = {{one.channel, 0, 0, 1, 40 * ns}, {two.channel, 0, 0, 2, 40 * ns}};
    CHECK_EQ(link->submit(works, 2), 0);
    std::vector<vgpu_completion> done;
    for (std::size_t count = 0; count < 2; count += done.size())
        if (!CHECK(link->receive(done)))
            return;
    CHECK(owner(*link, getpid()).busy_ns[0] < 80 * ns * info.scale);
    CHECK(owner(*link, getpid()).busy_ns[0] >= 40 * ns * info.scale);
    for (std::uint32_t handle : {one.channel, two.channel, context.context})
        CHECK_EQ(link->destroy(handle), 0);
    /* Known after it has ended, until the next reset. */
    CHECK(owner(*link, getpid()).busy_ns[0] > 0);
    CHECK_EQ(owner(*link, getpid()).contexts, 0u);
    CHECK_EQ(link->reset_stats(), 0);
    CHECK_EQ(owners(*link).size(), 0u);
}

/* More answers than the socket holds are waiting before the first is read, and nothing else wakes the daemon. */
void slow_reader()
{
    constexpr std::uint32_t requests = 20000;
    constexpr std::size_t size = sizeof(vgpu_message) + sizeof(vgpu_info);
    const timeval patience{60, 0};
    auto link = vgpu::open_link();
    std::vector<char> bytes(requests * size);

    if (!CHECK(link) || !CHECK(!setsockopt(link->fd(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience))))
        return;
    for (std::uint32_t i = 0; i < requests; i++) {
        vgpu_message request{_IOC_NR(VGPU_IOC_INFO), sizeof(vgpu_info), 0, i};
        std::memcpy(&bytes[i * size], &request, sizeof(request));
    }
    CHECK_EQ(send(link->fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
    int unread = 0;
    while (CHECK(!ioctl(link->fd(), SIOCOUTQ, &unread)) && unread)
        sched_yield();
    CHECK_EQ(recv(link->fd(), bytes.data(), bytes.size(), MSG_WAITALL), static_cast<ssize_t>(bytes.size()));
    for (std::uint32_t i = 0; i < requests; i++) {
        vgpu_message answer;
        std::memcpy(&answer, &bytes[i * size], sizeof(answer));
        if (!CHECK(answer.result == 0 && answer.cookie == i))
            return;
    }
}

/* The control calls, on a channel made by hand: off keeps work from completing, on lets it. */
void control_calls()
{
    auto link = vgpu::open_link();
    if (!CHECK(link))
        return;
    vgpu_context_create context{};
    CHECK_EQ(link->create_context(context), 0);
    vgpu_channel_create first{context.context, 0, 0, 0}, second{context.context, 0, 0, 0};
    CHECK_EQ(link->create_channel(first), 0);
    CHECK_EQ(link->create_channel(second), 0);

    vgpu_control slice{VGPU_SET_SLICE, context.context, 0, 777};
    CHECK_EQ(link->control(slice), 0);
    slice = {VGPU_GET_SLICE, context.context, 0, 0};
    CHECK_EQ(link->control(slice), 0);
    CHECK_EQ(slice.value, 777u);
    slice = {VGPU_SET_SLICE, context.context, 0, 0};
    CHECK_EQ(link->control(slice), -EINVAL);
    slice = {99, context.context, 0, 0};
    CHECK_EQ(link->control(slice), -EINVAL);
    slice = {VGPU_GET_SLICE, 999, 0, 0};
    CHECK_EQ(link->control(slice), -ENOENT);

    vgpu_control off{VGPU_SET_ENABLED, first.channel, 0, 0}, on{VGPU_SET_ENABLED, first.channel, 0, 1};
    vgpu_work works[] = {{first.channel, 0, 0, 1, 1000}, {second.channel, 0, 0, 2, 1000}};
    CHECK_EQ(link->control(off), 0);
    CHECK_EQ(link->submit(works, 2), 0);
    std::vector<vgpu_completion> done;
    CHECK(link->receive(done));
    CHECK(done.size() == 1 && done[0].id == 2);
    CHECK_EQ(link->control(on), 0);
    CHECK(link->receive(done));
    CHECK(done.size() == 1 && done[0].id == 1);
    CHECK_EQ(link->destroy(context.context), -EBUSY);
    CHECK_EQ(link->destroy(first.channel), 0);
    CHECK_EQ(link->destroy(second.channel), 0);
    CHECK_EQ(link->destroy(context.context), 0);
    CHECK_EQ(link->destroy(context.context), -ENOENT);
}

} // namespace

void add_process_cases(std::vector<tap::Case> &cases)
{
    cases.insert(cases.end(), {
                                  {"nothing works before cuInit", before_init},
                                  {"a child of fork is refused, its parent is not", fork_after_init},
                                  {"a killed client frees its channels", killed_client},
                                  {"the engine's accounts are exact", accounts},
                                  {"slices and disabling by control calls", control_calls},
                              });
    if (!getenv("PTSCHED_VGPU_SOCKET"))
        return;
    cases.push_back({"a client comes while another dies", new_client_beside_a_dying_one});
    cases.push_back({"a client reads late", slow_reader});
}

} // namespace test
