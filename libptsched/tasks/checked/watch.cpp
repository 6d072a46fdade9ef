// SPDX-License-Identifier: MIT
#include "libptsched/tasks/checked/watch.hpp"

#include <algorithm>
#include <cstring>
#include <sys/mman.h>

namespace ptsched::tasks {

/* As a signal's handler: it opens the page, and the access is done again. */
bool Watch::on_fault(const BadAccess &access)
{
    const auto [address, is_write] = access;
    const bool is_closed = watched_.closed.find(address) || watched_.guards.find(address);
    if (!is_closed && !watched_.to_read.find(address))
        return false;
    const std::uintptr_t page = address & -page_bytes;
    const Bytes bytes{page, page + page_bytes};
    const int protection = is_write ? PROT_READ | PROT_WRITE : PROT_READ;
    if (!pthread_equal(thread_, pthread_self()))
        return !mprotect(bytes.data(), page_bytes, protection);
    if (fault_count_ < most_faults)
        faults_[fault_count_++] = {address, is_write};
    if (is_write && saved_count_ < most_saved) {
        /* It may not have been readable before. */
        if (mprotect(bytes.data(), page_bytes, PROT_READ))
            return false;
        Saved &saved = saved_[saved_count_++];
        saved.page = page;
        std::memcpy(saved.bytes, bytes.data(), page_bytes);
    }
    return !mprotect(bytes.data(), page_bytes, protection);
}

Watch::Watch(Watched watched)
    : watched_(std::move(watched)),
      is_passive_(watched_.closed.empty() && watched_.guards.empty() && watched_.to_read.empty())
{
    keep(watched_.kept);
    if (is_passive_)
        return;
    handler_.emplace([](void *self, const BadAccess &access) { return static_cast<Watch *>(self)->on_fault(access); },
                     this);
    sigset_t mine;
    sigemptyset(&mine);
    sigaddset(&mine, SIGSEGV);
    pthread_sigmask(SIG_UNBLOCK, &mine, &signals_before_);
    close(watched_.closed, PROT_NONE);
    close(watched_.to_read, PROT_READ);
}

/* What has too many parts for the kernel, or is no memory any more, stays as it is. */
void Watch::close(const ByteSet &pages, int protection)
{
    for (const Bytes &stretch : pages)
        mprotect(stretch.data(), stretch.size(), protection);
}

void Watch::keep(const ByteSet &bytes)
{
    for (const Bytes &stretch : bytes)
        copies_.insert(copies_.end(), stretch.data(), stretch.data() + stretch.size());
}

void Watch::open()
{
    close(watched_.closed, PROT_READ | PROT_WRITE);
    close(watched_.to_read, PROT_READ | PROT_WRITE);
}

std::vector<Watch::Touch> Watch::end()
{
    std::vector<Touch> touches;
    if (has_ended_)
        return touches;
    has_ended_ = true;
    if (is_passive_) {
        add_kept(touches);
        return touches;
    }
    open();
    add_kept(touches);
    add_faults(touches);
    for (std::size_t i = 0; i < fault_count_; i++)
        if (watched_.guards.find(faults_[i].address))
            mprotect(reinterpret_cast<void *>(faults_[i].address & -page_bytes), page_bytes, PROT_NONE);
    handler_.reset();
    pthread_sigmask(SIG_SETMASK, &signals_before_, nullptr);
    std::sort(touches.begin(), touches.end(), [](const auto &a, const auto &b) { return a.begin < b.begin; });
    return touches;
}

/* From the first byte that is another one to the last. */
bool Watch::difference(Bytes bytes, const std::byte *before, std::vector<Touch> &touches)
{
    std::size_t begin = 0, end = bytes.size();
    if (!std::memcmp(bytes.data(), before, end))
        return false;
    while (bytes.data()[begin] == before[begin])
        begin++;
    while (bytes.data()[end - 1] == before[end - 1])
        end--;
    /* What goes on in the next page is one. */
    if (!touches.empty() && touches.back().is_write && touches.back().end == bytes.begin + begin)
        touches.back().end = bytes.begin + end;
    else
        touches.push_back({bytes.begin + begin, bytes.begin + end, true});
    return true;
}

void Watch::add_kept(std::vector<Touch> &touches) const
{
    const std::byte *before = copies_.data();
    for (const Bytes &stretch : watched_.kept) {
        difference(stretch, before, touches);
        before += stretch.size();
    }
}

void Watch::add_faults(std::vector<Touch> &touches) const
{
    const auto is_written = [&](std::uintptr_t page) {
        return std::any_of(faults_, faults_ + fault_count_,
                           [&](const Fault &fault) { return fault.is_write && (fault.address & -page_bytes) == page; });
    };
    for (std::size_t i = 0; i < fault_count_; i++) {
        const std::uintptr_t page = faults_[i].address & -page_bytes;
        if (!faults_[i].is_write) {
            if (!is_written(page))
                touches.push_back({faults_[i].address, faults_[i].address, false});
            continue;
        }
        const Saved *const saved =
            std::find_if(saved_.get(), saved_.get() + saved_count_, [&](const Saved &one) { return one.page == page; });
        if (saved == saved_.get() + saved_count_ || !difference({page, page + page_bytes}, saved->bytes, touches))
            touches.push_back({faults_[i].address, faults_[i].address, true});
    }
}

} // namespace ptsched::tasks
