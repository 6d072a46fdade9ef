// SPDX-License-Identifier: MIT
/* What one node sends to another. */
#include "libptsched/spmd/mpi/mpi_link.hpp"
#include <ptsched/base/error.hpp>
#include <ptsched/spmd/mpi.hpp>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <thread>

namespace ptsched::spmd::mpi {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int message_bytes = 32 << 20;
constexpr int rounds = 6; /* the first one is for what is not there yet */
constexpr std::chrono::seconds most_wait{60};
constexpr int data_tag = 1, answer_tag = 2;

/* A rank that does not come is not waited for, and what MPI has begun then may still use memory. */
void finish(MPI_Request &request)
{
    const auto until = Clock::now() + most_wait;
    for (int is_done = 0;;) {
        check(MPI_Test(&request, &is_done, MPI_STATUS_IGNORE), "measure the network");
        if (is_done)
            return;
        if (Clock::now() > until) {
            break_off();
            throw Error("the network cannot be measured: nothing has been heard of another rank for " +
                        std::to_string(most_wait.count()) + " s, and all of them are to take part");
        }
        std::this_thread::yield();
    }
}

class Communicator {
public:
    explicit Communicator(MPI_Comm comm) : comm_(comm) {}
    ~Communicator()
    {
        if (comm_ != MPI_COMM_NULL && comm_ != MPI_COMM_WORLD)
            MPI_Comm_free(&comm_);
    }
    Communicator(const Communicator &) = delete;
    Communicator &operator=(const Communicator &) = delete;

    MPI_Comm get() const { return comm_; }
    int rank() const
    {
        int rank = 0;
        MPI_Comm_rank(comm_, &rank);
        return rank;
    }
    int size() const
    {
        int size = 0;
        MPI_Comm_size(comm_, &size);
        return size;
    }

private:
    MPI_Comm comm_;
};

MPI_Comm of_host()
{
    MPI_Comm host = MPI_COMM_NULL;
    check(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host),
          "say who is on this host");
    return host;
}

/* The ranks of MPI_COMM_WORLD that are to be in it; for others there is none. */
MPI_Comm of_some(bool is_in_it)
{
    MPI_Comm some = MPI_COMM_NULL;
    check(MPI_Comm_split(MPI_COMM_WORLD, is_in_it ? 0 : MPI_UNDEFINED, 0, &some), "split a communicator");
    return some;
}

double least_of_all(double value)
{
    double least = value;
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Iallreduce(&value, &least, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD, &request), "compare rates");
    finish(request);
    return least;
}

/* Bytes per second of the best round. The other one answers when it has all of a message. */
double rate_to(MPI_Comm comm, int other, bool sends)
{
    /* Memory that MPI may use after an error stays. */
    auto memory = std::make_unique<std::byte[]>(message_bytes);
    std::byte *const message = memory.release();
    static std::byte answer{};
    double best = 0;
    for (int round = 0; round < rounds; round++) {
        const auto begin = Clock::now();
        MPI_Request request = MPI_REQUEST_NULL;
        check(sends ? MPI_Isend(message, message_bytes, MPI_BYTE, other, data_tag, comm, &request)
                    : MPI_Irecv(message, message_bytes, MPI_BYTE, other, data_tag, comm, &request),
              "measure the network");
        finish(request);
        check(sends ? MPI_Irecv(&answer, 1, MPI_BYTE, other, answer_tag, comm, &request)
                    : MPI_Isend(&answer, 1, MPI_BYTE, other, answer_tag, comm, &request),
              "measure the network");
        finish(request);
        const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
        if (round > 0)
            best = std::max(best, message_bytes / std::max(seconds, 1e-9));
    }
    memory.reset(message);
    return best;
}

/* The first one of two sends; all pairs do so at the same time, as nodes do. */
double rate_of_pairs(const Communicator &pairs, int most)
{
    const int rank = pairs.rank(), other = rank ^ 1;
    if (other >= std::min(pairs.size(), most) || rank >= most)
        return std::numeric_limits<double>::infinity();
    const double rate = rate_to(pairs.get(), other, rank < other);
    return rank < other ? rate : std::numeric_limits<double>::infinity();
}

} // namespace

double network_rate()
{
    initialize();
    const Communicator all(MPI_COMM_WORLD);
    if (all.size() < 2)
        throw Error("one rank alone cannot measure the network: start two or more, as mpirun -n 2 does");
    const Communicator host(of_host());
    const Communicator firsts(of_some(host.rank() == 0));
    const bool has_hosts = least_of_all(host.size() < all.size() ? 0 : 1) < 0.5;
    double rate = std::numeric_limits<double>::infinity();
    if (!has_hosts)
        rate = rate_of_pairs(host, 2);
    else if (host.rank() == 0)
        rate = rate_of_pairs(firsts, std::numeric_limits<int>::max());
    if (!has_hosts && all.rank() == 0)
        std::fputs("all ranks are on one host: what is measured is what two of its ranks send to each other, and no "
                   "network\n",
                   stderr);
    return least_of_all(rate);
}

} // namespace ptsched::spmd::mpi

int ptsched_spmd_network_rate(double *rate, int *rank, char *error, std::size_t room)
{
    using namespace ptsched::spmd::mpi;
    try {
        *rate = network_rate();
        MPI_Comm_rank(MPI_COMM_WORLD, rank);
        return 0;
    } catch (const std::exception &wrong) {
        std::snprintf(error, room, "%s", wrong.what());
        return -1;
    }
}
