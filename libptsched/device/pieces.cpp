// SPDX-License-Identifier: MIT
#include "pieces.hpp"

#include <algorithm>

namespace ptsched::device::pieces {

namespace {

constexpr unsigned word_bytes = 16, threads = 256, words_each = 4;

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
    .reg .b32 width, here, i<4>, a<4>, b<4>, c<4>, d<4>, number;
    .reg .b64 entry, to, from, words, w<4>, f<4>, t<4>;

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
    mov.u32 i0, %tid.x;
    add.u32 i0, i0, here;
    add.u32 i1, i0, width;
    add.u32 i2, i1, width;
    add.u32 i3, i2, width;

    cvt.u64.u32 w0, i0;
    cvt.u64.u32 w1, i1;
    cvt.u64.u32 w2, i2;
    cvt.u64.u32 w3, i3;
    setp.lt.u64 in0, w0, words;
    setp.lt.u64 in1, w1, words;
    setp.lt.u64 in2, w2, words;
    setp.lt.u64 in3, w3, words;
    shl.b64 w0, w0, 4;
    shl.b64 w1, w1, 4;
    shl.b64 w2, w2, 4;
    shl.b64 w3, w3, 4;
    add.u64 f0, from, w0;
    add.u64 f1, from, w1;
    add.u64 f2, from, w2;
    add.u64 f3, from, w3;
    add.u64 t0, to, w0;
    add.u64 t1, to, w1;
    add.u64 t2, to, w2;
    add.u64 t3, to, w3;

    @in0 ld.global.cs.v4.u32 {a0, b0, c0, d0}, [f0];
    @in1 ld.global.cs.v4.u32 {a1, b1, c1, d1}, [f1];
    @in2 ld.global.cs.v4.u32 {a2, b2, c2, d2}, [f2];
    @in3 ld.global.cs.v4.u32 {a3, b3, c3, d3}, [f3];
    @in0 st.global.v4.u32 [t0], {a0, b0, c0, d0};
    @in1 st.global.v4.u32 [t1], {a1, b1, c1, d1};
    @in2 st.global.v4.u32 [t2], {a2, b2, c2, d2};
    @in3 st.global.v4.u32 [t3], {a3, b3, c3, d3};
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
    found.grid.x = static_cast<unsigned>((most + threads * words_each - 1) / (threads * words_each));
    found.grid.y = static_cast<unsigned>(pieces.size());
    return found;
}

} // namespace ptsched::device::pieces
