// SPDX-License-Identifier: MIT
#include "libptsched/spmd/mpi/mpi_link.hpp"

#include <ptsched/base/error.hpp>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <thread>
#include <utility>

namespace ptsched::spmd::mpi {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int tag = 1;
/*
 * MPI is asked again after a part of what has been waited for: a message is late by no more than that. At first, when
 * an answer is likely to be on its way, nobody sleeps: to wake takes longer than it may take to come.
 */
constexpr std::chrono::microseconds no_nap{100}, longest_nap{500};
constexpr int naps_of_wait = 64;
constexpr std::chrono::seconds last_wait{20};
/* Messages that come are begun as long as there are not so many of them. */
constexpr std::size_t most_coming = 64;

/* Set when a rank has failed: what waits for all of them would hang. */
bool is_broken = false;

/* Called by exit(), after the program has said what it had to say. */
void finalize()
{
    int is_finalized = 0;
    MPI_Finalized(&is_finalized);
    if (is_finalized)
        return;
    if (is_broken)
        MPI_Abort(MPI_COMM_WORLD, 1);
    else
        MPI_Finalize();
}

} // namespace

void check(int result, const char *what)
{
    if (result == MPI_SUCCESS)
        return;
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(result, text, &length);
    throw Error(std::string("MPI cannot ") + what + ": " + text);
}

void initialize()
{
    int is_initialized = 0, is_finalized = 0, threads = MPI_THREAD_FUNNELED;
    MPI_Initialized(&is_initialized);
    MPI_Finalized(&is_finalized);
    if (is_finalized)
        throw Error("MPI has been finalised: jobs can run before that only");
    if (is_initialized) {
        check(MPI_Query_thread(&threads), "say which threads may use it");
    } else {
        check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &threads), "be initialised");
        std::atexit(finalize);
    }
    int is_main = 0;
    MPI_Is_thread_main(&is_main);
    if (threads < MPI_THREAD_FUNNELED)
        throw Error(
            "MPI was initialised for a process with one thread: MPI_Init_thread(MPI_THREAD_FUNNELED) is needed");
    if (threads < MPI_THREAD_SERIALIZED && !is_main)
        throw Error("MPI was initialised by another thread, which has to run the jobs, or with MPI_THREAD_SERIALIZED");
}

MpiLink::MpiLink()
{
    initialize();
    int rank = 0, ranks = 0;
    check(MPI_Comm_dup(MPI_COMM_WORLD, &comm_), "copy a communicator");
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm_, &rank);
    MPI_Comm_size(comm_, &ranks);
    rank_ = static_cast<unsigned>(rank);
    ranks_ = static_cast<unsigned>(ranks);
    MPI_Comm host = MPI_COMM_NULL;
    check(MPI_Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host), "say who is on this host");
    MPI_Comm_rank(host, &rank);
    MPI_Comm_size(host, &ranks);
    host_rank_ = static_cast<unsigned>(rank);
    host_ranks_ = static_cast<unsigned>(ranks);
    MPI_Comm_free(&host);
}

/*
 * What others still send is received until all of them are here, or their last messages would never be sent. Memory
 * that MPI may use after that stays.
 */
MpiLink::~MpiLink()
{
    MPI_Request all_here = MPI_REQUEST_NULL;
    int is_finalized = 0, are_here = 0;
    MPI_Finalized(&is_finalized);
    if (!is_broken && !is_finalized) {
        try {
            check(MPI_Ibarrier(comm_, &all_here), "meet the other ranks");
            for (const auto until = Clock::now() + last_wait; !(are_here && sent_.empty()) && Clock::now() < until;) {
                while (next()) {
                }
                check(MPI_Test(&all_here, &are_here, MPI_STATUS_IGNORE), "meet the other ranks");
                if (!are_here)
                    nap(longest_nap);
            }
        } catch (const Error &) {
            are_here = 0;
        }
    }
    is_broken = is_broken || !sent_.empty() || !coming_.empty();
    for (auto *transfers : {&sent_, &coming_})
        if (!transfers->empty())
            static_cast<void>(new std::deque<Transfer>(std::move(*transfers)));
    if (are_here && !is_broken)
        MPI_Comm_free(&comm_);
}

void MpiLink::send(unsigned to, Buffer message)
{
    if (to == rank_) {
        own_.push_back({rank_, std::move(message)});
        return;
    }
    if (message.size() > std::numeric_limits<int>::max())
        throw Error("a message to rank " + std::to_string(to) + " has " + std::to_string(message.size()) +
                    " bytes, and MPI has room for 2147483647: a pair or the parameters are too large");
    sent_.push_back({MPI_REQUEST_NULL, {to, std::move(message)}});
    Transfer &transfer = sent_.back();
    const Buffer &bytes = transfer.message.bytes;
    check(MPI_Isend(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, static_cast<int>(to), tag, comm_,
                    &transfer.request),
          "send");
    unsent_ += bytes.size();
}

void MpiLink::look_at_sent()
{
    std::erase_if(sent_, [this](Transfer &transfer) {
        int is_done = 0;
        check(MPI_Test(&transfer.request, &is_done, MPI_STATUS_IGNORE), "send");
        if (is_done)
            unsent_ -= transfer.message.bytes.size();
        return is_done != 0;
    });
}

/* A message is begun when it is seen, and comes when it is all there, after those before it. */
void MpiLink::look_for_more()
{
    while (coming_.size() < most_coming) {
        int is_there = 0, bytes = 0;
        MPI_Message handle = MPI_MESSAGE_NULL;
        MPI_Status status;
        check(MPI_Improbe(MPI_ANY_SOURCE, tag, comm_, &is_there, &handle, &status), "look for messages");
        if (!is_there)
            return;
        MPI_Get_count(&status, MPI_BYTE, &bytes);
        coming_.push_back({MPI_REQUEST_NULL, {static_cast<unsigned>(status.MPI_SOURCE), {}}});
        Transfer &transfer = coming_.back();
        std::byte *const to = transfer.message.bytes.grow(static_cast<std::size_t>(bytes));
        check(MPI_Imrecv(to, bytes, MPI_BYTE, &handle, &transfer.request), "receive");
    }
}

std::optional<Message> MpiLink::next()
{
    if (!own_.empty()) {
        Message message = std::move(own_.front());
        own_.pop_front();
        return message;
    }
    look_at_sent();
    look_for_more();
    if (coming_.empty())
        return std::nullopt;
    int is_done = 0;
    check(MPI_Test(&coming_.front().request, &is_done, MPI_STATUS_IGNORE), "receive");
    if (!is_done)
        return std::nullopt;
    Message message = std::move(coming_.front().message);
    coming_.pop_front();
    return message;
}

std::optional<Message> MpiLink::receive(std::chrono::milliseconds limit)
{
    const auto begin = Clock::now(), until = begin + limit;
    for (;;) {
        if (std::optional<Message> message = next())
            return message;
        const auto waited = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begin);
        if (waited < no_nap)
            std::this_thread::yield();
        if (nap(waited < no_nap ? waited.zero() : std::min(waited / naps_of_wait, longest_nap)) ||
            Clock::now() >= until)
            return std::nullopt;
    }
}

/* True: somebody has woken it. */
bool MpiLink::nap(std::chrono::microseconds time)
{
    Lock lock(mutex_);
    if (!woken_ && time > time.zero())
        changed_.wait_for(lock, time);
    return std::exchange(woken_, false);
}

void MpiLink::wake()
{
    const Guard guard(mutex_);
    woken_ = true;
    changed_.notify_all();
}

void break_off()
{
    is_broken = true;
}

void MpiLink::give_up()
{
    is_broken = true;
}

} // namespace ptsched::spmd::mpi
