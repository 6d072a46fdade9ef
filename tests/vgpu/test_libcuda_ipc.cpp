// SPDX-License-Identifier: MIT
/* Device memory that two processes use. */
#include "tests/vgpu/test_libcuda.h"

#include <numeric>
#include <sys/socket.h>

namespace test {

namespace {

constexpr std::size_t count = 3000; /* of numbers: not whole pages */
constexpr std::size_t bytes = count * sizeof(unsigned int);

struct Offer {
    CUipcMemHandle memory, stale;
};

template <typename T> bool tell(int socket, const T &message)
{
    return send(socket, &message, sizeof(message), MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof(message));
}

template <typename T> bool hear(int socket, T &message)
{
    return recv(socket, &message, sizeof(message), MSG_WAITALL) == static_cast<ssize_t>(sizeof(message));
}

/* This program in another process, which is at the other end of a socket. */
struct Peer {
    explicit Peer(const char *role)
    {
        int ends[2];
        CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
        pid = fork();
        if (pid == 0) {
            const std::string number = std::to_string(ends[1]);
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            close(ends[0]);
            execl("/proc/self/exe", "vgpu_libcuda", role, number.c_str(), nullptr);
            _exit(127);
        }
        close(ends[1]);
        socket = ends[0];
    }
    ~Peer() { close(socket); }
    Peer(const Peer &) = delete;
    Peer &operator=(const Peer &) = delete;

    int end(int signal = 0) const
    {
        int status = -1;
        if (signal)
            kill(pid, signal);
        waitpid(pid, &status, 0);
        return status;
    }

    pid_t pid;
    int socket;
};

std::vector<unsigned int> numbers()
{
    std::vector<unsigned int> all(count);
    std::iota(all.begin(), all.end(), 1000u);
    return all;
}

std::vector<unsigned int> content(CUdeviceptr memory)
{
    std::vector<unsigned int> all(count);
    CU(cuMemcpyDtoH_v2(all.data(), memory, bytes));
    return all;
}

CUdeviceptr allocation(CUipcMemHandle &handle)
{
    CUdeviceptr memory = 0;
    const std::vector<unsigned int> from = numbers();

    CU(cuMemAlloc_v2(&memory, bytes));
    CU(cuMemcpyHtoD_v2(memory, from.data(), bytes));
    CU(cuIpcGetMemHandle(&handle, memory));
    return memory;
}

/* The other side of shared_memory(). */
void opens(int socket)
{
    Offer offer{};
    Context context;
    CUdeviceptr memory = 0, again = 0, base = 0;
    std::size_t size = 0;
    char byte = 0;
    std::vector<unsigned int> expected = numbers();

    CHECK(hear(socket, offer));
    CU_IS(cuIpcOpenMemHandle_v2(&memory, offer.memory, 0), CUDA_ERROR_INVALID_VALUE);
    CU_IS(cuIpcOpenMemHandle_v2(&memory, {}, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS), CUDA_ERROR_INVALID_HANDLE);
    CU_IS(cuIpcOpenMemHandle_v2(&memory, offer.stale, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS), CUDA_ERROR_INVALID_HANDLE);
    CU(cuIpcOpenMemHandle_v2(&memory, offer.memory, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    CU(cuIpcOpenMemHandle_v2(&again, offer.memory, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    CHECK_EQ(memory, again);
    CU(cuMemGetAddressRange_v2(&base, &size, memory + 5));
    CHECK(base == memory && size == bytes);
    expected[0] += 5;
    CHECK(content(memory) == expected);
    CU(launch_count(context, memory, 7, nullptr));
    CU_IS(cuMemFree_v2(memory), CUDA_ERROR_INVALID_VALUE);
    {
        Context other;
        CU_IS(cuIpcOpenMemHandle_v2(&again, offer.memory, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS),
              CUDA_ERROR_INVALID_CONTEXT);
    }
    CU(cuCtxSetCurrent(context.handle));
    CU(cuCtxSynchronize());
    CHECK(tell(socket, byte) && hear(socket, byte));
    /* Its owner has written to it, and has freed it. */
    expected[0] += 7 + 11;
    CHECK(content(memory) == expected);
    CU(cuIpcCloseMemHandle(memory));
    CHECK(content(memory) == expected);
    CU(cuIpcCloseMemHandle(memory));
    CU_IS(cuIpcCloseMemHandle(memory), CUDA_ERROR_INVALID_VALUE);
    CU_IS(cuMemsetD8_v2(memory, 0, 1), CUDA_ERROR_INVALID_VALUE);
    CU_IS(cuIpcOpenMemHandle_v2(&memory, offer.memory, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS), CUDA_ERROR_INVALID_HANDLE);
}

/* The other side of exporter_killed(). */
void offers(int socket)
{
    Offer offer{};
    Context context;
    char byte = 0;

    allocation(offer.memory);
    CHECK(tell(socket, offer));
    hear(socket, byte);
}

void shared_memory()
{
    Peer peer("opens");
    Offer offer{};
    Context context;
    Stream stream;
    char byte = 0;
    CUdeviceptr stale = allocation(offer.stale), memory = allocation(offer.memory);
    CUipcMemHandle again;

    CU(cuMemFree_v2(stale));
    /* What was on its way comes, too. */
    CU(launch_count(context, memory, 5, stream));
    CU(cuIpcGetMemHandle(&again, memory + 8));
    CHECK(std::equal(again.reserved, again.reserved + sizeof(again.reserved), offer.memory.reserved));
    CU_IS(cuIpcOpenMemHandle_v2(&stale, offer.memory, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS), CUDA_ERROR_INVALID_CONTEXT);
    CU(cuStreamSynchronize(stream));
    CHECK(tell(peer.socket, offer) && hear(peer.socket, byte));
    std::vector<unsigned int> expected = numbers();
    expected[0] += 5 + 7;
    CHECK(content(memory) == expected);
    CU(launch_count(context, memory, 11, stream));
    CU(cuStreamSynchronize(stream));
    CU(cuMemFree_v2(memory));
    CHECK(tell(peer.socket, byte));
    CHECK_EQ(peer.end(), 0);
}

void what_cannot_be_shared()
{
    Context context;
    Pinned<int> pinned(8);
    CUipcMemHandle handle;
    CUdeviceptr managed = 0, pooled = 0, memory = 0;

    CU(cuMemAllocManaged(&managed, bytes, CU_MEM_ATTACH_GLOBAL));
    CU(cuMemAllocAsync(&pooled, bytes, nullptr));
    CU(cuMemAlloc_v2(&memory, bytes));
    for (CUdeviceptr pointer : {pinned.device, managed, pooled, memory + bytes, CUdeviceptr{0}})
        CU_IS(cuIpcGetMemHandle(&handle, pointer), CUDA_ERROR_INVALID_VALUE);
    CU_IS(cuIpcGetMemHandle(nullptr, memory), CUDA_ERROR_INVALID_VALUE);
    CU_IS(cuIpcCloseMemHandle(memory), CUDA_ERROR_INVALID_VALUE);
    for (CUdeviceptr pointer : {managed, pooled, memory})
        CU(cuMemFree_v2(pointer));
}

/* What it has offered stays for who has it open. */
void exporter_killed()
{
    Peer peer("offers");
    Offer offer{};
    Context context;
    CUdeviceptr memory = 0;

    CHECK(hear(peer.socket, offer));
    CU(cuIpcOpenMemHandle_v2(&memory, offer.memory, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    CHECK(WIFSIGNALED(peer.end(SIGKILL)));
    CHECK(content(memory) == numbers());
    CU(cuIpcCloseMemHandle(memory));
    CU_IS(cuIpcOpenMemHandle_v2(&memory, offer.memory, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS), CUDA_ERROR_INVALID_HANDLE);
}

} // namespace

int ipc_peer(const std::string &role, int socket)
{
    CU(cuInit(0));
    if (role == "opens")
        opens(socket);
    else
        offers(socket);
    std::fflush(stdout);
    return tap::failed_here;
}

void add_ipc_cases(std::vector<tap::Case> &cases)
{
    cases.insert(cases.end(), {
                                  {"two processes use the same memory", shared_memory},
                                  {"what cannot be shared is refused", what_cannot_be_shared},
                                  {"memory of a killed process stays for who has it open", exporter_killed},
                              });
}

} // namespace test
