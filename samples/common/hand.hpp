/* SPDX-License-Identifier: MIT */
/* The library with what one does without a pool, of one program: its functions, which are of C. */
#ifndef SAMPLES_COMMON_HAND_HPP
#define SAMPLES_COMMON_HAND_HPP

#include <ptsched/base/error.hpp>

#include <dlfcn.h>
#include <string>

namespace ptsched::samples {

/* Stays loaded: CUDA's runtime, which is in it, has things to do when the process ends. Errors are Error. */
class Hand {
public:
    explicit Hand(const std::string &library)
        : library_(library), handle_(dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL))
    {
        if (!handle_)
            throw Error(std::string("what is done by hand cannot be loaded: ") + dlerror());
    }

    /* A function or a variable of it. */
    template <typename Thing> Thing *find(const char *name) const
    {
        void *const found = dlsym(handle_, name);
        if (!found)
            throw Error(library_ + " has no " + name + ": it is of another program, or another version");
        return reinterpret_cast<Thing *>(found);
    }

private:
    const std::string library_;
    void *const handle_;
};

/* Of such a function, which returns what went wrong, or null. */
inline void check_hand(const char *error)
{
    if (error)
        throw Error(std::string("by hand: ") + error);
}

} // namespace ptsched::samples

#endif /* SAMPLES_COMMON_HAND_HPP */
