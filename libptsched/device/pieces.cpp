// SPDX-License-Identifier: MIT
#include "libptsched/device/pieces.hpp"

#include <algorithm>

namespace ptsched::device::pieces {

namespace {

constexpr unsigned word_bytes = 16, threads = 256, words_each = 4;
/* With 16 KiB each in flight: a few times what fills the bus, and little of what other kernels need. */
constexpr std::uint64_t most_blocks = 32;

std::uint64_t words_of(const Piece &piece)
{
    return (piece.bytes + word_bytes - 1) / word_bytes;
}

} // namespace

/*
 * blockIdx.y says which entry. Each thread has four words in flight, a block's width apart, so that a block reads what
 * lies side by side: a read takes the bus a microsecond, and it is the many at once that fill it. What is read is used
 * once (.cs).
 */
const char ptx[] = R"(.version 6.4
.target sm_70
.address_size 64

.visible .entry ptsched_pieces(.param .u64 entries)
{
    .reg .pred in<4>;
    .reg .b32 width, here, number, a<4>, b<4>, c<4>, d<4>;
    .reg .b64 entry, to, from, words, apart, step, w<4>, o<4>, f<4>, t<4>;

    mov.u32 number, %ctaid.y;
    mul.wide.u32 words, number, 24;
    ld.param.u64 entry, [entries];
    add.u64 entry, entry, words;
    ld.global.u64 to, [entry];
    ld.global.u64 from, [entry+8];
    ld.global.u64 words, [entry+16];

    mov.u32 width, %ntid.x;
    mov.u32 here, %ctaid.x;
    mul.lo.u32 here, here, width;
    shl.b32 here, here, 2;
    mov.u32 number, %tid.x;
    add.u32 here, here, number;
    cvt.u64.u32 w0, here;
    cvt.u64.u32 apart, width;
    mov.u32 number, %nctaid.x;
    mul.wide.u32 step, number, width;
    shl.b64 step, step, 2;

next:
    setp.lt.u64 in0, w0, words;
    @!in0 bra done;
    add.u64 w1, w0, apart;
    add.u64 w2, w1, apart;
    add.u64 w3, w2, apart;
    setp.lt.u64 in1, w1, words;
    setp.lt.u64 in2, w2, words;
    setp.lt.u64 in3, w3, words;
    shl.b64 o0, w0, 4;
    shl.b64 o1, w1, 4;
    shl.b64 o2, w2, 4;
    shl.b64 o3, w3, 4;
    add.u64 f0, from, o0;
    add.u64 f1, from, o1;
    add.u64 f2, from, o2;
    add.u64 f3, from, o3;
    add.u64 t0, to, o0;
    add.u64 t1, to, o1;
    add.u64 t2, to, o2;
    add.u64 t3, to, o3;

    ld.global.cs.v4.u32 {a0, b0, c0, d0}, [f0];
    @in1 ld.global.cs.v4.u32 {a1, b1, c1, d1}, [f1];
    @in2 ld.global.cs.v4.u32 {a2, b2, c2, d2}, [f2];
    @in3 ld.global.cs.v4.u32 {a3, b3, c3, d3}, [f3];
    st.global.v4.u32 [t0], {a0, b0, c0, d0};
    @in1 st.global.v4.u32 [t1], {a1, b1, c1, d1};
    @in2 st.global.v4.u32 [t2], {a2, b2, c2, d2};
    @in3 st.global.v4.u32 [t3], {a3, b3, c3, d3};
    add.u64 w0, w0, step;
    bra next;
done:
    ret;
}
)";
static_assert(sizeof(Entry) == 24);

Entry::Entry(const Piece &piece) : to(piece.to), from(piece.from), words(words_of(piece)) {}

Geometry geometry(const std::vector<Piece> &pieces)
{
    std::uint64_t most = 1;
    for (const Piece &piece : pieces)
        most = std::max(most, words_of(piece));
    Geometry found;
    found.block.x = threads;
    const std::uint64_t useful = (most + threads * words_each - 1) / (threads * words_each);
    found.grid.x = static_cast<unsigned>(std::min(useful, std::max<std::uint64_t>(most_blocks / pieces.size(), 1)));
    found.grid.y = static_cast<unsigned>(pieces.size());
    return found;
}

} // namespace ptsched::device::pieces
