// SPDX-License-Identifier: MIT
/*
 * A program whose work is done by children that it forks, each with a context of its own. It never uses the GPU itself.
 */
#include "tests/gpu/job.hpp"

#include <sys/wait.h>

namespace {

constexpr int count = 1 << 16, kernels = 300, children = 2;

__global__ void advance(unsigned *data, unsigned by, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned x = data[i];
    for (int round = 0; round < rounds; round++)
        x = x * 1664525u + by;
    data[i] = x;
}

uint64_t work_of_a_child(unsigned number)
{
    unsigned *data;
    std::vector<unsigned> found(count);
    check(cudaMalloc(&data, count * sizeof(unsigned)), "cudaMalloc");
    check(cudaMemset(data, 0, count * sizeof(unsigned)), "cudaMemset");
    for (int i = 0; i < kernels; i++)
        advance<<<count / 256, 256>>>(data, number + static_cast<unsigned>(i), 200000);
    check(cudaMemcpy(found.data(), data, count * sizeof(unsigned), cudaMemcpyDeviceToHost), "cudaMemcpy");
    return hash_of(found.data(), found.size() * sizeof(unsigned));
}

class Forks : public Job {
public:
    void reset() override
    {
        number_ = 0;
        hash_ = hash_of(nullptr, 0);
    }

    void step() override
    {
        int pipes[children][2];
        pid_t pids[children];
        for (int i = 0; i < children; i++) {
            if (pipe(pipes[i])) {
                std::perror("forks: pipe");
                std::exit(1);
            }
            pids[i] = fork();
            if (pids[i] == 0) {
                uint64_t found = work_of_a_child(number_ + static_cast<unsigned>(i));
                std::exit(write(pipes[i][1], &found, sizeof(found)) != sizeof(found));
            }
            close(pipes[i][1]);
        }
        for (int i = 0; i < children; i++, number_++) {
            uint64_t found = 0;
            int status = 1;
            if (read(pipes[i][0], &found, sizeof(found)) != sizeof(found) || waitpid(pids[i], &status, 0) < 0 ||
                status) {
                std::fprintf(stderr, "forks: a child failed, status %d\n", status);
                std::exit(1);
            }
            close(pipes[i][0]);
            hash_ = hash_of(&found, sizeof(found), hash_);
        }
    }

    uint64_t hash() override { return hash_; }

private:
    unsigned number_ = 0;
    uint64_t hash_ = 0;
};

} // namespace

int main(int argc, char **argv)
{
    Forks job;
    return run_program(job, argc, argv);
}
