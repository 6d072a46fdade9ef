/* SPDX-License-Identifier: MIT */
/* A peer of the broker that keeps no rule. */
#ifndef PTSCHED_TEST_HOSTILE_HPP
#define PTSCHED_TEST_HOSTILE_HPP

#include "tests/fuzz/broker_messages.hpp"
#include <ptsched/base/fd.hpp>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

class HostilePeers : private Choices {
public:
    HostilePeers(std::string socket_path, std::uint64_t seed) : path_(std::move(socket_path)), random_(seed) {}

    /* One message, or something between messages: connecting, hanging up, reading. */
    void step();
    /* Messages that were sent, as far as the socket took them. */
    unsigned sent() const { return sent_; }
    void hang_up() { peers_.clear(); }

private:
    unsigned below(unsigned limit) override { return static_cast<unsigned>(random_() % limit); }
    std::uint64_t number() override { return random_(); }
    /* False: the broker has hung up. */
    bool send(int socket, const BrokerMessages::Bytes &bytes);
    void read_answers(int socket);
    ptsched::UniqueFd some_file();
    void connect();

    std::string path_;
    std::mt19937_64 random_;
    BrokerMessages messages_{*this};
    std::vector<ptsched::UniqueFd> peers_;
    std::vector<ptsched::UniqueFd> handles_; /* received */
    unsigned sent_ = 0;
};

#endif
