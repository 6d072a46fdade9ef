// SPDX-License-Identifier: MIT
// Devices and datablocks, on the virtual GPU.
#include "cases.hpp"

/* PoCL loses what it says about a program that does not compile. */
extern "C" const char *__lsan_default_suppressions();
extern "C" const char *__lsan_default_suppressions()
{
    return "leak:libpocl";
}

namespace {

/* What PoCL compiles is not left in the user's home. */
class PoclCache {
public:
    PoclCache()
    {
        if (mkdtemp(name_.data()))
            setenv("POCL_CACHE_DIR", name_.c_str(), 1);
    }
    ~PoclCache() { std::filesystem::remove_all(name_); }
    PoclCache(const PoclCache &) = delete;
    PoclCache &operator=(const PoclCache &) = delete;

private:
    std::string name_ = "/tmp/device-test-XXXXXX";
};

} // namespace

int main(int argc, char **)
{
    if (argc > 1)
        return tap::run(test::apart_cases());
    test::Daemon daemon;
    PoclCache cache;
    std::vector<tap::Case> all;

    setenv("PTSCHED_VGPU_MEMORY", std::to_string(test::gpu_memory).c_str(), 1);
    for (auto cases : {test::parameter_cases, test::memory_cases, test::content_cases, test::stress_cases,
                       test::peer_cases, test::source_cases, test::opencl_cases})
        for (tap::Case &one : cases())
            all.push_back(std::move(one));
    return tap::run(all);
}
