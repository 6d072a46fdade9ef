/* SPDX-License-Identifier: MIT */
/* Messages of the generic netlink family, over netlink or to the broker. */
#ifndef PTSCHED_TEST_GENL_HPP
#define PTSCHED_TEST_GENL_HPP

#include "tests/conformance/scheduler.hpp"

#include <memory>

namespace genl {

using Payload = std::vector<char>;

Payload begin(std::uint8_t cmd);
void append(Payload &payload, std::uint16_t attribute, const void *data, std::size_t length);

class Channel {
public:
    virtual ~Channel() = default;
    /*
     * @fd is a descriptor that the request names; -1: none. Over netlink its number says it, to the broker it is sent.
     */
    virtual scheduler::Reply transact(const Payload &payload, int fd = -1) = 0;
    /* The descriptor that events will come from; the channel is of no other use then. */
    virtual ptsched::UniqueFd subscribe() = 0;
};

std::unique_ptr<Channel> open_netlink();
std::unique_ptr<Channel> open_broker(const std::string &path);

scheduler::Attributes next_event(int fd, bool netlink);

/* --- the broker's side --- */

ptsched::UniqueFd connect_to(const std::string &path);
/* Sends one message and puts the answer into @argument. */
int call(int socket, const ptsched_broker_header &header, void *argument, int fd);

} // namespace genl

#endif
