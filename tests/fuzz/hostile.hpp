// SPDX-License-Identifier: MIT
// A peer of the broker that keeps no rule.
#ifndef PTSCHED_TEST_HOSTILE_HPP
#define PTSCHED_TEST_HOSTILE_HPP

#include "broker_protocol.h"
#include "fd.hpp"

#include <cstdint>
#include <random>
#include <string>
#include <vector>

class HostilePeers {
public:
    HostilePeers(std::string socket_path, uint64_t seed) : path_(std::move(socket_path)), random_(seed) {}

    // One message, or something between messages: connecting, hanging up, reading.
    void step();
    // Messages that were sent, as far as the socket took them.
    unsigned sent() const { return sent_; }
    void hang_up() { peers_.clear(); }

private:
    using Bytes = std::vector<char>;

    unsigned below(unsigned limit) { return static_cast<unsigned>(random_() % limit); }
    bool one_in(unsigned chance) { return below(chance) == 0; }
    Bytes noise(size_t length);
    Bytes contract_message();
    Bytes tool_message();
    Bytes message(uint32_t cmd, const Bytes &payload);
    void damage(Bytes &bytes);
    // False: the broker has hung up.
    bool send(int socket, const Bytes &bytes);
    void read_answers(int socket);
    ptsched::UniqueFd some_file();
    void connect();

    std::string path_;
    std::mt19937_64 random_;
    std::vector<ptsched::UniqueFd> peers_;
    std::vector<ptsched::UniqueFd> handles_; // received
    unsigned sent_ = 0;
};

#endif
