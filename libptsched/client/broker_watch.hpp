/* SPDX-License-Identifier: MIT */
/* Whether the broker still answers while somebody waits for a turn, which may rightly take long. */
#ifndef PTSCHED_CLIENT_BROKER_WATCH_HPP
#define PTSCHED_CLIENT_BROKER_WATCH_HPP

#include <cstdint>

namespace ptsched {

class BrokerWatcher;

/* What is watched: a connection to the broker. Its calls do not wait. */
class WatchedConnection {
public:
    virtual void ask_for_sign() = 0;
    /* How many messages have come. */
    virtual std::uint64_t heard() const = 0;
    /* None came: whoever waits is told. */
    virtual void give_up() = 0;

protected:
    ~WatchedConnection() = default;
};

/*
 * While it exists, a thread of this process asks the broker for a sign of life now and then, and ends the connection if
 * none has come within its patience. The thread that waits cannot do it: a wait with a timeout would end with signals
 * after which the kernel restarts one without. The thread sleeps while nobody waits. Where none can be started, nobody
 * watches.
 */
class BrokerWatch {
public:
    explicit BrokerWatch(WatchedConnection &connection);
    ~BrokerWatch();
    BrokerWatch(const BrokerWatch &) = delete;
    BrokerWatch &operator=(const BrokerWatch &) = delete;

private:
    friend class BrokerWatcher;

    WatchedConnection &connection_;
    BrokerWatcher *watcher_;
    /* The watcher's, under its lock. */
    BrokerWatch *next_ = nullptr, **link_ = nullptr;
    bool is_new_ = true;
    bool asked_ = false;
    std::uint64_t heard_ = 0; /* when it was asked */
    unsigned silent_ = 0;
};

} // namespace ptsched

#endif
