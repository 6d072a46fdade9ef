/* SPDX-License-Identifier: MIT */
/* What the versions by hand use of MPI: the ranks of the whole program. Errors end all of them, as is MPI's default. */
#ifndef SAMPLES_SPMD_COMMON_RANKS_HPP
#define SAMPLES_SPMD_COMMON_RANKS_HPP

#include "samples/common/program.hpp"
#include "samples/common/ways.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mpi.h>
#include <span>
#include <string>
#include <vector>

namespace ptsched::samples {

/* Of records, that one rank has: its part of all, and no other's. */
struct Share {
    std::size_t first, count;
};
/* Parts of about the same size, in the order of the ranks. */
inline Share share_of(std::size_t all, std::size_t parts, std::size_t part)
{
    const std::size_t first = all / parts * part + std::min(part, all % parts);
    return {first, all / parts + (part < all % parts)};
}

template <typename T> MPI_Datatype mpi_type();
template <> inline MPI_Datatype mpi_type<float>()
{
    return MPI_FLOAT;
}
template <> inline MPI_Datatype mpi_type<double>()
{
    return MPI_DOUBLE;
}
template <> inline MPI_Datatype mpi_type<std::uint64_t>()
{
    return MPI_UINT64_T;
}
template <> inline MPI_Datatype mpi_type<char>()
{
    return MPI_CHAR;
}

/* One in a process, for as long as it uses MPI; and others that it says. */
class Ranks {
public:
    Ranks(int argc, char **argv);
    ~Ranks();
    Ranks(const Ranks &) = delete;
    Ranks &operator=(const Ranks &) = delete;
    /* The same ranks, or this one alone, with so many threads each; none takes a core's time while it waits. */
    static Ranks with_threads(const Ranks &all, unsigned threads)
    {
        return {all, all.comm_, all.rank_, all.count_, threads};
    }
    static Ranks alone(const Ranks &all, unsigned threads) { return {all, MPI_COMM_SELF, 0, 1, threads}; }

    int rank() const { return rank_; }
    int count() const { return count_; }
    bool is_first() const { return rank_ == 0; }
    /* Of those on this host: each takes a GPU, and its part of the cores. */
    int rank_here() const { return rank_here_; }
    unsigned threads() const { return threads_; }
    /* 0: as many as there is room for. */
    unsigned said_threads() const { return is_patient_ ? threads_ : 0; }
    Share share(std::size_t all) const
    {
        return share_of(all, static_cast<std::size_t>(count_), static_cast<std::size_t>(rank_));
    }

    MPI_Comm comm() const { return comm_; }
    void meet() const;
    /* Of each element, that of all ranks comes to be in the place of each rank's. */
    template <typename T> void add_up(std::span<T> values) const
    {
        MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), mpi_type<T>(), MPI_SUM, comm_);
    }
    /* The shares of @all records of so many elements, to the first rank: one behind the other. */
    template <typename T> void gather(std::span<const T> own, std::size_t all, std::size_t elements, T *to) const
    {
        MPI_Datatype record = MPI_DATATYPE_NULL;
        MPI_Type_contiguous(static_cast<int>(elements), mpi_type<T>(), &record);
        MPI_Type_commit(&record);
        std::vector<int> counts, places;
        for (int i = 0; i < count_; i++) {
            const Share share = share_of(all, static_cast<std::size_t>(count_), static_cast<std::size_t>(i));
            counts.push_back(static_cast<int>(share.count));
            places.push_back(static_cast<int>(share.first));
        }
        MPI_Gatherv(own.data(), static_cast<int>(own.size() / elements), record, to, counts.data(), places.data(),
                    record, 0, comm_);
        MPI_Type_free(&record);
    }

private:
    Ranks(const Ranks &all, MPI_Comm comm, int rank, int count, unsigned threads)
        : comm_(comm), is_patient_(true), ends_mpi_(false), rank_(rank), count_(count), rank_here_(all.rank_here_),
          threads_(threads)
    {
    }

    MPI_Comm comm_ = MPI_COMM_WORLD;
    const bool is_patient_ = false, ends_mpi_ = true;
    int rank_ = 0, count_ = 1, rank_here_ = 0;
    unsigned threads_ = 1;
};

/* A way of all ranks: it takes as long as the last of them. */
class RankedWay : public Way {
public:
    explicit RankedWay(const Ranks &ranks) : ranks_(ranks) {}
    void restore() override {}
    void run() final
    {
        ranks_.meet();
        compute();
        ranks_.meet();
    }
    virtual void compute() = 0;
    /* Of the first rank, which has the results. */
    virtual void check_result() = 0;
    void check() final
    {
        if (ranks_.is_first())
            check_result();
    }

protected:
    const Ranks &ranks() const { return ranks_; }

private:
    const Ranks &ranks_;
};

/* As run_program(), with --cpu. The first rank alone says something and writes a file; an error of one ends all. */
int run_ranks(const Ranks &ranks, int argc, char **argv, const std::string &name, const std::string &what,
              const std::function<void(const Settings &, Report &)> &run, std::vector<Choice> choices);

} // namespace ptsched::samples

#endif /* SAMPLES_SPMD_COMMON_RANKS_HPP */
