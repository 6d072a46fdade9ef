/* SPDX-License-Identifier: MIT */
/* For tests that use OpenCL on the processor: included by the file with main(). */
#ifndef VGPU_TEST_POCL_H
#define VGPU_TEST_POCL_H

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

/* PoCL loses what it says about a program that does not compile. */
extern "C" const char *__lsan_default_suppressions();
extern "C" const char *__lsan_default_suppressions()
{
    return "leak:libpocl";
}

namespace test {

/* What PoCL compiles is not left in the user's home. */
class PoclCache {
public:
    PoclCache()
    {
        if (!mkdtemp(name_.data()))
            throw std::runtime_error("cannot make a folder for what PoCL compiles");
        setenv("POCL_CACHE_DIR", name_.c_str(), 1);
    }
    ~PoclCache() { std::filesystem::remove_all(name_); }
    PoclCache(const PoclCache &) = delete;
    PoclCache &operator=(const PoclCache &) = delete;

private:
    std::string name_ = "/tmp/pocl-test-XXXXXX";
};

} // namespace test

#endif /* VGPU_TEST_POCL_H */
