/* SPDX-License-Identifier: MIT */
/*
 * How calls cross: in slots of the pool to the GPU (pool/slots.h), and in a ring of slots of each GPU to the host. Both
 * are written in pieces of 16 bytes with a tag, so that who finds the tag has what is beside it. Compiled by the host's
 * compiler, nvcc and NVRTC.
 */
#ifndef PTSCHED_ARENA_CALL_SLOTS_H
#define PTSCHED_ARENA_CALL_SLOTS_H

#include <ptsched/arena/call/signature.h>
#include <ptsched/pool/slots.h>

namespace ptsched::arena {

/* What became of a call of the host. */
enum class Status : unsigned int {
    done,
    no_such_function,
    wrong_signature,
    failed, /* it has thrown: who has called the function of the GPU gets the error */
};

namespace detail {

struct Channel;

} // namespace detail

/* By which kernels that the program launches itself call the host: a parameter of theirs. Calls::line() makes it. */
struct Line {
    const detail::Channel *channel;
};

namespace detail {

/* Of no call that the host has begun: an ordinary kernel's. */
constexpr unsigned int no_record = ~0U;

/* A call to the GPU, in its slot. */
struct Header {
    const Channel *channel; /* for calls of the host, from there */
    unsigned int record;    /* of the call, on the host */
    unsigned int is_beside; /* behind this is the address of what would be there, in page-locked memory */
};
static_assert(sizeof(Header) == 16);

struct alignas(most_alignment) Slot {
    Header header;
    unsigned char room[pool::most_bytes - sizeof(Header)]; /* arguments, and then what is returned */
};

/* The parameter of a kernel that spreads one call over all its blocks. */
constexpr unsigned int spread_bytes = 1024;
struct alignas(most_alignment) Spread {
    Header header;
    unsigned int number; /* of the function, from 0 on */
    void *result;
    unsigned char room[spread_bytes];
};

/* A call to the host. Its slot has a ticket's number for a tag, from 1 on. */
struct Request {
    unsigned long long key; /* of name and signature; for a number: of the signature */
    unsigned int number;    /* of RemotePointer; 0: by its name */
    unsigned int record;
};
constexpr unsigned int most_request_bytes = 256, most_answer_bytes = 128;
constexpr unsigned int request_pieces = pool::pieces_of(sizeof(Request) + most_request_bytes);
/* Before the result is its Status. */
constexpr unsigned int answer_pieces = 12;
static_assert(answer_pieces >= pool::pieces_of(most_answer_bytes + sizeof(Status)));

/* In the GPU's memory: where its calls to the host go. */
struct Channel {
    pool::Piece *requests;      /* [slot][piece], in page-locked memory */
    const pool::Piece *answers; /* likewise */
    unsigned int *next_ticket;  /* in the GPU's memory */
    unsigned int *turns;        /* [slot]: whose ticket's it is; likewise */
    unsigned int slots;         /* a power of two */
};

/* By its number: to say what is wrong with a name. */
constexpr unsigned int complaint = 0xffffffff;
struct Complaint {
    char name[most_name_bytes];
    char signature[most_signature_bytes];
};
static_assert(sizeof(Complaint) <= most_request_bytes);

/* What a module says of its functions. */
constexpr unsigned int description_version = 1;
struct FunctionText {
    char name[most_name_bytes];
    char signature[most_signature_bytes];
    unsigned int argument_bytes, result_bytes;
};
struct DescriptionHead {
    unsigned int version, count;
};
template <unsigned int Count> struct Description {
    DescriptionHead head;
    FunctionText functions[Count];
};

/* A line of a kernel's, for the host to format. */
constexpr unsigned int most_format_bytes = 160, most_values = 8;
struct LogLine {
    enum Kind : unsigned char { whole, natural, real, address };
    char format[most_format_bytes];
    unsigned long long values[most_values];
    Kind kinds[most_values];
    unsigned int count;
};
static_assert(sizeof(LogLine) <= most_request_bytes);

constexpr unsigned int most_path_bytes = 208;
struct Path {
    char text[most_path_bytes];
};

} // namespace detail
} // namespace ptsched::arena

#endif /* PTSCHED_ARENA_CALL_SLOTS_H */
