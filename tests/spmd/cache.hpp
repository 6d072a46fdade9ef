/* SPDX-License-Identifier: MIT */
/* What is known of machines, for tests: nothing is measured that takes seconds. */
#ifndef TEST_SPMD_CACHE_HPP
#define TEST_SPMD_CACHE_HPP

#include <ptsched/spmd/roofline.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace test {

/* A cache of its own, as long as one lives. */
class Cache {
public:
    Cache()
    {
        std::string name = "/tmp/spmd-roofline-XXXXXX";
        if (!mkdtemp(name.data()))
            throw std::runtime_error("there is no folder in /tmp");
        folder_ = name;
        setenv("XDG_CACHE_HOME", name.c_str(), 1);
    }
    ~Cache()
    {
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
        unsetenv("XDG_CACHE_HOME");
    }
    Cache(const Cache &) = delete;
    Cache &operator=(const Cache &) = delete;

    const std::filesystem::path &folder() const { return folder_; }
    static void write(const std::filesystem::path &file, const std::string &text)
    {
        std::filesystem::create_directories(file.parent_path());
        std::ofstream(file) << text;
    }
    /* As if it had been measured. */
    static void keep(const ptsched::spmd::model::Machine &machine, bool gpus = true)
    {
        write(ptsched::spmd::model::machine_file(gpus), ptsched::spmd::model::to_json(machine));
    }

private:
    std::filesystem::path folder_;
};

/* Numbers that are easy to follow. */
inline ptsched::spmd::model::Machine made_up_machine(unsigned gpus = 1)
{
    ptsched::spmd::model::Machine machine;
    machine.name = "here";
    machine.cpu = {"a \"CPU\"", 4, {200e9, 100e9}, 50e9};
    machine.gpus.assign(gpus, {.name = "a GPU",
                               .peak = {4000e9, 2000e9},
                               .dram = 1000e9,
                               .to_gpu = 25e9,
                               .to_host = 20e9,
                               .latency = 1e-5,
                               .memory = 1ull << 34});
    machine.network = 3e9;
    return machine;
}

} // namespace test

#endif /* TEST_SPMD_CACHE_HPP */
