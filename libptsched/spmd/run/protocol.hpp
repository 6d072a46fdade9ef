/* SPDX-License-Identifier: MIT */
/* What ranks tell each other. A message is a head and, for some, bytes behind it. */
#ifndef PTSCHED_SPMD_RUN_PROTOCOL_HPP
#define PTSCHED_SPMD_RUN_PROTOCOL_HPP

#include "libptsched/spmd/link/link.hpp"
#include <ptsched/base/error.hpp>

#include <cstring>
#include <span>
#include <string>
#include <string_view>

namespace ptsched::spmd {

/* From each rank to rank 0 (up), from it to each (down), or between any two. */
enum class Tag : std::uint32_t {
    hello, /* up: a: what the job is (a hash); b: the rank's rate, 0 if not known, c: as a guess, doubles; text: its
              name */
    begin, /* down: a: buckets; b: a part comes unasked; c: rank 0 reduces all, and few pairs come with done; bytes: the
              parameters */
    want,  /* up: a partition */
    part,  /* down: a: id; b, c: its range; d: it is a copy */
    done,  /* up: a: id; b: its few pairs are here, too, and c: their place; bytes: pairs */
    returned, /* up: a: id: it has not done that one, as give_up said */
    give_up,  /* down: a: id: somebody else was first */
    verdict,  /* down: a: id; b: whether the result counts */
    mapped,   /* down: all partitions are done; a: their pairs have come with done; bytes: the ranks that are there */
    chunk,    /* any: a: bucket; b: place; c: whether it is the last of its run; bytes: pairs */
    sent,     /* any: no more chunks come from here */
    result,   /* up: a: bucket; bytes: pairs of its result */
    reduced, /* up: no more of them come, or, if rank 0 reduces all, what has been done so far; text: the rank's part of
                the report */
    output,  /* down: bytes: pairs of the whole result */
    finish,  /* down: all is done; files get their names */
    beat,    /* up and down: still there; a: bytes mapped so far, but not done */
    failed,  /* up: text: why */
    stop,    /* down: text: why the job ends */
};

/* From one beat to the next. */
inline constexpr double beat_seconds = 0.25;

struct Head {
    Tag tag;
    std::uint32_t run; /* runs of this cluster so far, on all ranks the same */
    std::uint64_t a = 0, b = 0, c = 0, d = 0;
};

inline Buffer make_message(const Head &head, std::string_view bytes = {})
{
    Buffer message;
    message.append(&head, sizeof head);
    message.append(bytes.data(), bytes.size());
    return message;
}

inline Head head_of(const Buffer &message)
{
    Head head;
    if (message.size() < sizeof head)
        throw Error("a message of " + std::to_string(message.size()) + " bytes came, which is none of a job's");
    std::memcpy(&head, message.data(), sizeof head);
    return head;
}

inline std::span<const std::byte> body_of(const Buffer &message)
{
    return {message.data() + sizeof(Head), message.size() - sizeof(Head)};
}

inline std::string_view as_text(std::span<const std::byte> bytes)
{
    return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

inline std::string text_of(const Buffer &message)
{
    return std::string(as_text(body_of(message)));
}

} // namespace ptsched::spmd

#endif /* PTSCHED_SPMD_RUN_PROTOCOL_HPP */
