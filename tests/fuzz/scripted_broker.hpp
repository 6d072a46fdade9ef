/* SPDX-License-Identifier: MIT */
/* A broker that says what the input of a fuzz target is, whatever it is asked, and hangs up. */
#ifndef PTSCHED_TEST_SCRIPTED_BROKER_HPP
#define PTSCHED_TEST_SCRIPTED_BROKER_HPP

#include "libptsched/base/lock.hpp"
#include "libptsched/client/broker_protocol.h"
#include "tests/fuzz/input.h"
#include <ptsched/base/fd.hpp>

#include <string>
#include <thread>
#include <vector>

namespace fuzz {

struct Said {
    std::vector<char> bytes;
    std::vector<ptsched::UniqueFd> fds;
};
struct Script {
    std::vector<Said> said;
    bool is_deaf = false; /* it hears nothing after it has spoken */
};

/* Messages that answer requests numbered from 1 on, more or less; the descriptors of an attached client with some. */
Script read_script(fuzz_input &input);
/* Attributes of the family, as the module and the broker send them, more or less. */
std::vector<char> read_attributes(fuzz_input &input);

class ScriptedBroker {
public:
    /* Listens on a socket of its own, which $PTSCHED_SOCKET names from then on. */
    ScriptedBroker();

    const std::string &path() const { return path_; }
    /* What the next connection is told, and the one after that. */
    void will_say(Script first, Script second);
    /* Whoever was told something is gone. */
    void rest();

private:
    void serve();

    std::string path_;
    ptsched::UniqueFd listener_;
    ptsched::Mutex mutex_;
    std::vector<Script> scripts_ PTSCHED_GUARDED_BY(mutex_); /* the last is the next */
    std::vector<ptsched::UniqueFd> told_ PTSCHED_GUARDED_BY(mutex_);
    std::thread thread_;
};

} // namespace fuzz

#endif
