/* SPDX-License-Identifier: MIT */
/* The page that a client reads without a system call, and the pipe that wakes its poll(). */
#ifndef PTSCHEDD_SHARED_PAGE_HPP
#define PTSCHEDD_SHARED_PAGE_HPP

#include "kmod/policy/policy.h"
#include <ptsched/base/fd.hpp>

#include <array>
#include <cstdint>
#include <linux/ptsched.h>

namespace ptsched {

/*
 * The client's process could write to it, so the broker remembers what it wrote
 * and never reads it.
 */
class SharedPage {
public:
    /* The descriptors for the client, in the protocol's order. Throws std::system_error. */
    SharedPage();
    SharedPage(const SharedPage &) = delete;
    SharedPage &operator=(const SharedPage &) = delete;
    ~SharedPage();

    /* Descriptors that the client gets at attach; closed afterwards. */
    struct ClientEnds {
        UniqueFd page;
        UniqueFd state;
        UniqueFd poll;
        UniqueFd handle;
    };
    ClientEnds take_client_ends() { return std::move(client_ends_); }

    /* What the page tells of a turn; to be written before set_state() shows it. */
    void describe_turn(const ptsp_entity &entity, std::int64_t budget_ns, std::uint64_t inflight_ns);
    /* @cpu: of the thread whose asking calls back, 1 + its number; 0: none did. */
    void show_asker(std::uint32_t cpu) { __atomic_store_n(&page_->asker_cpu, cpu, __ATOMIC_RELAXED); }
    void set_state(std::uint32_t state);
    /* Of what has changed since the last time, if that is an event. */
    void tell();
    void acknowledge(std::uint32_t events);

    /* What a handed-over descriptor must contain to stand for this client. */
    using Secret = std::array<unsigned char, 32>;
    const Secret &secret() const { return secret_; }

private:
    void notify();

    ptsched_page *page_;
    UniqueFd wake_, woken_; /* the ends of the pipe */
    Secret secret_;
    ClientEnds client_ends_;
    std::uint32_t state_ = 0;
    std::uint32_t events_ = 0;
    bool untold_ = false;
    bool pending_ = false; /* a byte is in the pipe, for all that was acknowledged */
};

/* The secret in a descriptor that some client received with its page; false: it is none. */
bool read_secret(int fd, SharedPage::Secret &secret);

} // namespace ptsched

#endif
