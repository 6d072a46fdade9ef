// SPDX-License-Identifier: MIT
#include "libptsched/base/lock.hpp"
#include "libptsched/base/standard_error.hpp"
#include <ptsched/device/log.hpp>

#include <memory>
#include <utility>

namespace ptsched::device {

namespace {

struct Where {
    Mutex mutex;
    std::shared_ptr<const Log> log PTSCHED_GUARDED_BY(mutex); /* null: standard error */
};

/* Never destroyed: the last graph may be closed at exit. */
Where &where()
{
    static auto *const only = new Where;
    return *only;
}

} // namespace

void set_log(Log log)
{
    auto next = log ? std::make_shared<const Log>(std::move(log)) : nullptr;
    Where &its = where();
    Guard guard(its.mutex);
    its.log.swap(next);
}

void log_line(const std::string &line) noexcept
{
    try {
        Where &its = where();
        Lock lock(its.mutex);
        const std::shared_ptr<const Log> log = its.log;
        lock.unlock();
        if (log) {
            (*log)(line);
            return;
        }
        const std::string whole = line + "\n";
        write_to_user(whole.data(), whole.size());
    } catch (const std::exception &) {
        /* There is nobody to tell. */
    }
}

} // namespace ptsched::device
