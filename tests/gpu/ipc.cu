// SPDX-License-Identifier: MIT
/*
 * Two processes that share device memory by CUDA IPC and work on it in turns. With --spin a kernel of the first waits
 * on the device for a flag that a kernel of the second sets, so that neither gets on without the other.
 */
#include "tests/gpu/job.hpp"

#include <sys/socket.h>
#include <sys/wait.h>

namespace {

constexpr int count = 1 << 20;

__global__ void advance(unsigned *data, unsigned by, int rounds)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        unsigned x = data[i];
        for (int round = 0; round < rounds; round++)
            x = x * 1664525u + by;
        data[i] = x;
    }
}

__global__ void await_flag(volatile unsigned *flag, unsigned value)
{
    while (*flag != value) {
    }
}

__global__ void set_flag(volatile unsigned *flag, unsigned value)
{
    *flag = value;
    __threadfence_system();
}

struct Message {
    cudaIpcMemHandle_t memory; /* only the first time */
    unsigned number;           /* of a task; 0: end */
};

template <typename T> bool receive(int socket, T &message)
{
    return recv(socket, &message, sizeof(message), MSG_WAITALL) == static_cast<ssize_t>(sizeof(message));
}

int second(int socket, bool spin)
{
    Message message;
    unsigned *data = nullptr;
    while (receive(socket, message) && message.number) {
        if (!data)
            check(
                cudaIpcOpenMemHandle(reinterpret_cast<void **>(&data), message.memory, cudaIpcMemLazyEnablePeerAccess),
                "cudaIpcOpenMemHandle");
        if (spin)
            set_flag<<<1, 1>>>(data + count, message.number);
        else
            advance<<<264, 128>>>(data, message.number * 2 + 1, 4000);
        check(cudaDeviceSynchronize(), "the second's kernel");
        if (send(socket, &message.number, sizeof(message.number), MSG_NOSIGNAL) < 0)
            break;
    }
    return data && cudaIpcCloseMemHandle(data) != cudaSuccess;
}

class Ipc : public Job {
public:
    Ipc(const char *self, bool spin) : spin_(spin)
    {
        int sockets[2];
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets)) {
            std::perror("ipc: socketpair");
            std::exit(1);
        }
        /* A process of its own from the beginning: CUDA does not survive a fork. */
        child_ = fork();
        if (child_ == 0) {
            std::string number = std::to_string(sockets[1]);
            close(sockets[0]);
            execl("/proc/self/exe", self, spin ? "--second-spin" : "--second", number.c_str(), nullptr);
            _exit(127);
        }
        close(sockets[1]);
        socket_ = sockets[0];
        check(cudaMalloc(&data_, (count + 1) * sizeof(unsigned)), "cudaMalloc");
        check(cudaIpcGetMemHandle(&message_.memory, data_), "cudaIpcGetMemHandle");
    }

    ~Ipc() override
    {
        message_.number = 0;
        send(socket_, &message_, sizeof(message_), MSG_NOSIGNAL);
        waitpid(child_, nullptr, 0);
        cudaFree(data_);
    }

    void reset() override
    {
        check(cudaMemset(data_, 0, (count + 1) * sizeof(unsigned)), "cudaMemset");
        check(cudaDeviceSynchronize(), "cudaMemset");
        message_.number = 0;
    }

    void step() override
    {
        unsigned answer = 0;
        message_.number++;
        if (spin_)
            await_flag<<<1, 1>>>(data_ + count, message_.number);
        else
            advance<<<264, 128>>>(data_, message_.number, 4000);
        if (!spin_)
            check(cudaDeviceSynchronize(), "the first's kernel");
        if (send(socket_, &message_, sizeof(message_), MSG_NOSIGNAL) < 0 || !receive(socket_, answer) ||
            answer != message_.number) {
            std::fprintf(stderr, "ipc: the second process does not answer\n");
            std::exit(1);
        }
        check(cudaDeviceSynchronize(), "the wait for the flag");
    }

    uint64_t hash() override
    {
        std::vector<unsigned> found(count + 1);
        check(cudaMemcpy(found.data(), data_, found.size() * sizeof(unsigned), cudaMemcpyDeviceToHost), "cudaMemcpy");
        return hash_of(found.data(), found.size() * sizeof(unsigned));
    }

private:
    bool spin_;
    pid_t child_;
    int socket_;
    unsigned *data_ = nullptr;
    Message message_{};
};

} // namespace

int main(int argc, char **argv)
{
    if (argc == 3 && !std::strncmp(argv[1], "--second", 8))
        return second(std::atoi(argv[2]), !std::strcmp(argv[1], "--second-spin"));
    bool spin = argc > 1 && !std::strcmp(argv[1], "--spin");
    Ipc job(argv[0], spin);
    return run_program(job, argc - spin, argv + spin);
}
