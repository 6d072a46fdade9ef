/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_PTASK_DEVICES_EXEMPT_HPP
#define PTSCHED_PTASK_DEVICES_EXEMPT_HPP

namespace ptsched::ptask {

/*
 * Under the interposer (libptsched-preload.so), what the calling thread submits meanwhile is not gated once more: it
 * has a turn of its own.
 */
class Exempt {
public:
    explicit Exempt(bool yes = true) : before_(!yes || set(1)) {}
    ~Exempt()
    {
        if (!before_)
            set(0);
    }
    Exempt(const Exempt &) = delete;
    Exempt &operator=(const Exempt &) = delete;

private:
    /* Returns what was; true, too, if there is nobody to be exempt from. */
    static bool set(int yes);

    const bool before_;
};

} // namespace ptsched::ptask

#endif /* PTSCHED_PTASK_DEVICES_EXEMPT_HPP */
