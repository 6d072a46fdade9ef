// SPDX-License-Identifier: MIT
/* The files of processes that have ended, as the broker closes them. */
#include "tools/ptschedd/file_closer.hpp"

#include "libptsched/base/time_calls.hpp"
#include "tests/conformance/tap.hpp"

#include <cstdio>
#include <fcntl.h>
#include <future>
#include <poll.h>

namespace {

using ptsched::UniqueFd;

/* A pipe whose writing end the closer keeps: its other end tells when it is closed. */
struct Watched {
    UniqueFd here, there;

    Watched()
    {
        int ends[2];
        CHECK_EQ(0, pipe2(ends, O_CLOEXEC));
        here = UniqueFd(ends[0]);
        there = UniqueFd(ends[1]);
    }
    bool is_closed() const
    {
        pollfd hung_up{.fd = here.get(), .events = 0, .revents = 0};
        return poll(&hung_up, 1, 0) == 1;
    }
};

TEST("closing takes long, and whoever lets go of the file goes on; the event loop hears of the end")
{
    ptsched::EventLoop loop;
    std::promise<void> began, may_end;
    ptsched::FileCloser closer(loop, [&](UniqueFd) {
        began.set_value();
        may_end.get_future().wait();
    });
    Watched watched;
    auto one = closer.keep(std::move(watched.there));
    auto other = one;
    one.reset();
    CHECK(!closer.is_busy());
    CHECK(!watched.is_closed());
    other.reset();
    began.get_future().wait();
    CHECK(closer.is_busy());
    CHECK(!watched.is_closed());
    may_end.set_value();
    while (closer.is_busy())
        loop.run_once(ptsched::kNoLimit);
    CHECK(watched.is_closed());
}

TEST("what was given to it is closed, also when it ends")
{
    ptsched::EventLoop loop;
    Watched first, second;
    {
        ptsched::FileCloser closer(loop);
        closer.keep(std::move(first.there));
        closer.keep(std::move(second.there));
    }
    CHECK(first.is_closed());
    CHECK(second.is_closed());
}

} // namespace

int main()
{
    setvbuf(stdout, nullptr, _IOLBF, 0);
    return tap::run("", [] {});
}
