/* SPDX-License-Identifier: MIT */
/* What hand.cu is made of: a library that is there only where nvcc is. */
#ifndef SAMPLES_POOL_COMMON_BY_HAND_HPP
#define SAMPLES_POOL_COMMON_BY_HAND_HPP

#include <ptsched/device/device.hpp>

#include <dlfcn.h>
#include <string>

namespace ptsched::samples {

/* It stays loaded: what it has on the device ends with the process. */
class ByHand {
public:
    /* Throws device::Error, with what the loader says, if it cannot be loaded. */
    explicit ByHand(const std::string &path) : library_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL))
    {
        if (!library_)
            throw device::Error(std::string("the library with what is written by hand: ") + dlerror());
    }

    /* A function or a variable of it. Throws device::Error if there is none of that name. */
    template <typename Thing> Thing *find(const char *name) const
    {
        void *const found = dlsym(library_, name);
        if (!found)
            throw device::Error(std::string("the library with what is written by hand has no ") + name);
        return reinterpret_cast<Thing *>(found);
    }

private:
    void *const library_;
};

} // namespace ptsched::samples

#endif /* SAMPLES_POOL_COMMON_BY_HAND_HPP */
