/* SPDX-License-Identifier: MIT */
/* What kernels.cu and the host have in common. Words are of 4 bytes. */
#ifndef PTSCHED_ARENA_COHERENCE_KERNELS_H
#define PTSCHED_ARENA_COHERENCE_KERNELS_H

namespace ptsched::arena {

enum { arena_page_words = 16384, arena_chunk_words = 1024, arena_threads = 256 };
/* A block of threads has so many chunks of a page, in all of which each thread has reads in flight. */
enum { arena_block_chunks = 4, arena_page_blocks = arena_page_words / arena_chunk_words / arena_block_chunks };

/* Words that come to a page of the GPU's memory and its twin. */
struct ArenaIncoming {
    unsigned long long from; /* 0: zeros */
    unsigned int page;
    unsigned int only_different; /* from the twin's: the others stay */
};

/* A page that goes to the twin, if it is not from there, and to the host. */
struct ArenaOutgoing {
    unsigned long long to; /* 0: not to the host */
    unsigned int page;
    unsigned int from_twin;
};

/* A page that is compared with its twin, which is made equal. */
enum { arena_count = 0, arena_pack = 1, arena_pack_with_twin = 2 };
struct ArenaCompared {
    unsigned int page;
    unsigned int mode;
};

/*
 * What differs in a chunk: this, then the words that are in the GPU's memory where bits are set, in order, and with
 * arena_pack_with_twin those that were in the twin.
 */
struct ArenaPacked {
    unsigned int chunk; /* its number from the first page's begin */
    unsigned int count; /* of words */
    unsigned int bits[arena_chunk_words / 32];
};
enum { arena_packed_words = 2 + arena_chunk_words / 32 };

} // namespace ptsched::arena

#endif /* PTSCHED_ARENA_COHERENCE_KERNELS_H */
