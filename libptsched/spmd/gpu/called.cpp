// SPDX-License-Identifier: MIT
/* Pieces that a function of the host maps. */
#include "libptsched/spmd/gpu/stream.hpp"
#include <ptsched/spmd/gpu_block.hpp>

#include <cstring>
#include <numeric>
#include <utility>

namespace ptsched::spmd {

class Stream::Called final : public GpuBlock {
public:
    Called(Stream &on, const Piece &piece, CUstream_st *stream)
        : on_(on), block_(piece.block), placed_(piece.placed), stream_(stream)
    {
    }

    CUstream_st *stream() const override { return stream_; }
    int gpu() const override { return on_.number_; }
    device::Address data() const override { return reinterpret_cast<device::Address>(on_.launch_.data); }
    device::Address parameters() const override { return reinterpret_cast<device::Address>(on_.launch_.parameters); }
    const Block &on_host() const override { return block_; }
    device::Address allocate(std::size_t bytes) override
    {
        memory_.push_back(device::Allocation::on_device(on_.gpu_, std::max<std::size_t>(bytes, 1)));
        return memory_.back().address();
    }
    void emit(std::size_t count, device::Address keys, device::Address values, std::size_t key_bytes,
              std::size_t value_bytes) override
    {
        check(key_bytes, value_bytes);
        emitted_.push_back({count, keys, {}, values, key_bytes, value_bytes});
    }
    void emit(std::size_t count, const void *keys, device::Address values, std::size_t key_bytes,
              std::size_t value_bytes) override
    {
        check(key_bytes, value_bytes);
        std::vector<std::byte> copy(count * key_bytes);
        if (!copy.empty())
            std::memcpy(copy.data(), keys, copy.size());
        emitted_.push_back({count, 0, std::move(copy), values, key_bytes, value_bytes});
    }
    void emit_numbered(device::Address values, std::size_t value_bytes) override
    {
        std::vector<std::uint64_t> numbers(block_.records);
        std::iota(numbers.begin(), numbers.end(), block_.first);
        emit(numbers.size(), numbers.data(), values, sizeof(std::uint64_t), value_bytes);
    }

    /* After the function. */
    Pairs bring() const
    {
        Pairs made = on_.pairs();
        for (const Emitted &some : emitted_) {
            if (!some.count || (placed_ && place(some)))
                continue;
            if (some.own_keys.empty())
                on_.bring_column(made.keys, some.keys, some.count, some.key_bytes);
            else
                for (std::size_t i = 0; i < some.count; i++)
                    made.keys.append(
                        {reinterpret_cast<const char *>(some.own_keys.data()) + i * some.key_bytes, some.key_bytes});
            on_.bring_column(made.values, some.values, some.count, some.value_bytes);
        }
        return made;
    }

private:
    struct Emitted {
        std::size_t count;
        device::Address keys;
        std::vector<std::byte> own_keys; /* empty: they are on the GPU */
        device::Address values;
        std::size_t key_bytes, value_bytes;
    };

    void check(std::size_t key_bytes, std::size_t value_bytes) const
    {
        const auto compare = [](const char *what, std::size_t here, std::size_t wanted) {
            if (wanted != any_width && here != wanted)
                throw Error(std::string("a host function for GPUs emits ") + what + " of " + std::to_string(here) +
                            " bytes, and those of the job are of " + std::to_string(wanted));
        };
        compare("keys", key_bytes, on_.program_.key_width);
        compare("values", value_bytes, on_.program_.value_width);
    }

    /* Straight, if they are to lie one behind the other as they do here. */
    bool place(const Emitted &some) const
    {
        std::vector<std::uint64_t> keys(some.count);
        auto *const bytes = reinterpret_cast<std::byte *>(keys.data());
        if (some.own_keys.empty())
            on_.bus_.download(bytes, some.keys, some.count * some.key_bytes);
        else
            std::memcpy(bytes, some.own_keys.data(), some.own_keys.size());
        if (consecutive(keys, 0) < some.count)
            return false;
        on_.bus_.download(placed_->room(keys[0], some.count, some.value_bytes), some.values,
                          some.count * some.value_bytes);
        return true;
    }

    Stream &on_;
    const Block &block_;
    Placed *const placed_;
    CUstream_st *const stream_;
    std::vector<device::Allocation> memory_;
    std::vector<Emitted> emitted_;
};

Pairs Stream::map_by_host(const Piece &piece)
{
    std::optional<Called> called;
    const auto code = device::cuda_stream_code(gpu_, [&](const device::StreamWork &work) {
        called.emplace(*this, piece, work.stream);
        program_.gpu.host.map(*called);
    });
    /* What it has allocated is used until then, whatever it throws. */
    const Settled settled{*queue_};
    queue_->run(*code, {}, {});
    Pairs made = called->bring();
    queue_->finish();
    return made;
}

} // namespace ptsched::spmd
