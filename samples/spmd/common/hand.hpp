/* SPDX-License-Identifier: MIT */
/* What the versions by hand for GPUs share: a rank's GPU with its kernels, and chunks that go round some streams. */
#ifndef SAMPLES_SPMD_COMMON_HAND_HPP
#define SAMPLES_SPMD_COMMON_HAND_HPP

#include "samples/common/driver.hpp"
#include "samples/spmd/common/ranks.hpp"

#include <array>

namespace ptsched::samples {

/* One after another of the GPUs of a host is that of one after another of its ranks. */
class RankGpu {
public:
    RankGpu(const Ranks &ranks, const std::string &module)
        : context_(number_of(ranks)), module_(module), multiprocessors_(count_multiprocessors())
    {
    }
    CUfunction find(const char *kernel) const { return module_.find(kernel); }
    unsigned multiprocessors() const { return multiprocessors_; }

private:
    static int number_of(const Ranks &ranks)
    {
        int gpus = 0;
        driver::check(driver::cuInit(0));
        driver::check(driver::cuDeviceGetCount(&gpus));
        if (!gpus)
            throw Error("there is no GPU: --cpu measures without one");
        return ranks.rank_here() % gpus;
    }
    static unsigned count_multiprocessors()
    {
        CUdevice device = 0;
        int count = 0;
        driver::check(driver::cuCtxGetDevice(&device));
        driver::check(driver::cuDeviceGetAttribute(&count, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device));
        return static_cast<unsigned>(count);
    }

    const driver::Context context_;
    const driver::Module module_;
    const unsigned multiprocessors_;
};

/* A share of records by chunks, each in the next of three streams: copies both ways, and kernels, side by side. */
class Chunks {
public:
    static constexpr std::size_t most_bytes = std::size_t{32} << 20, streams = 3;

    Chunks(std::size_t records, std::size_t record_bytes)
        : records_(records),
          most_(std::clamp<std::size_t>(most_bytes / record_bytes, 1, std::max<std::size_t>(records, 1)))
    {
    }
    /* Of a chunk. */
    std::size_t most_records() const { return most_; }
    /* Calls @work(first, count, number of the stream, stream) for each, and waits. */
    template <typename Work> void each(const Work &work) const
    {
        std::size_t next = 0;
        for (std::size_t first = 0; first < records_; first += most_, next = (next + 1) % streams)
            work(first, std::min(most_, records_ - first), next, streams_[next]);
        for (const driver::Stream &stream : streams_)
            stream.finish();
    }

private:
    const std::size_t records_, most_;
    const std::array<driver::Stream, streams> streams_;
};

} // namespace ptsched::samples

#endif /* SAMPLES_SPMD_COMMON_HAND_HPP */
