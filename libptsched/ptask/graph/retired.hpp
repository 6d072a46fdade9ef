/* SPDX-License-Identifier: MIT */
/* What is over and a program may still have a reference to: the last of it stays, and says so to who uses it. */
#ifndef PTSCHED_PTASK_GRAPH_RETIRED_HPP
#define PTSCHED_PTASK_GRAPH_RETIRED_HPP

#include "libptsched/base/lock.hpp"

#include <cstddef>
#include <deque>
#include <memory>
#include <utility>

namespace ptsched::ptask {

template <typename T> class Retired {
public:
    static void keep(std::unique_ptr<T> one)
    {
        static Mutex mutex;
        static auto &kept PTSCHED_GUARDED_BY(mutex) = *new std::deque<std::unique_ptr<T>>;
        std::unique_ptr<T> oldest; /* ends without the lock */
        Guard lock(mutex);
        kept.push_back(std::move(one));
        if (kept.size() <= most)
            return;
        oldest = std::move(kept.front());
        kept.pop_front();
    }

private:
    static constexpr std::size_t most = 4096;
};

} // namespace ptsched::ptask

#endif /* PTSCHED_PTASK_GRAPH_RETIRED_HPP */
