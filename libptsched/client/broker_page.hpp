/* SPDX-License-Identifier: MIT */
/*
 * A client's page as the broker shares it, and what stands in for it when the
 * broker is gone.
 */
#ifndef PTSCHED_CLIENT_BROKER_PAGE_HPP
#define PTSCHED_CLIENT_BROKER_PAGE_HPP

#include <cstdint>
#include <linux/ptsched.h>

namespace ptsched {

class BrokerPage {
public:
    BrokerPage() = default;
    BrokerPage(const BrokerPage &) = delete;
    BrokerPage &operator=(const BrokerPage &) = delete;
    ~BrokerPage();

    /* -EPROTO: they are not files with a page that stays. */
    int map(int page_fd, int state_fd);
    const ptsched_page *get() const { return page_; }
    /* Returns what was set before. */
    std::uint32_t clear(std::uint32_t bits);

    /* Readers see the old page or the new one, nothing in between. */
    void set_dead();

    /* In a forked child, which has none of the mappings. */
    void forget() { page_ = spare_ = state_ = nullptr; }

private:
    /* What the program sees; never writable. */
    ptsched_page *page_ = nullptr;
    /* Prepared in time, so that nothing can fail when it is needed. */
    ptsched_page *spare_ = nullptr;
    ptsched_page *state_ = nullptr;
    bool dead_ = false;
};

} // namespace ptsched

#endif
