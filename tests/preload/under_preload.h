/* SPDX-License-Identifier: MIT */
/* Runs a test program again with the interposer and a driver beside it: from the build folder, wherever that is. */
#ifndef TEST_PRELOAD_UNDER_PRELOAD_H
#define TEST_PRELOAD_UNDER_PRELOAD_H

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

/* The folder of the running program. */
inline std::filesystem::path program_folder()
{
    return std::filesystem::read_symlink("/proc/self/exe").parent_path();
}

/*
 * A sanitized interposer in front of the sanitizer's own library; and tests fork while the interposer has its thread.
 */
inline constexpr const char *asan_options = "verify_asan_link_order=0:detect_leaks=0";
inline constexpr const char *tsan_options = "die_after_fork=0:atexit_sleep_ms=20";

inline long lines(const std::string &text)
{
    return std::count(text.begin(), text.end(), '\n');
}

/* For LD_PRELOAD: behind what is preloaded into the test itself. */
inline std::string behind_others(const std::string &library)
{
    const char *others = std::getenv("LD_PRELOAD");
    return others && *others ? others + (":" + library) : library;
}

/* Returns in the program that runs with @preload (empty: none) and with @driver_folder searched for libraries. */
inline void run_under(char **argv, const std::string &preload, const std::string &driver_folder)
{
    if (std::getenv("PTSCHED_TEST_UNDER"))
        return;
    setenv("PTSCHED_TEST_UNDER", "1", 1);
    setenv("LD_LIBRARY_PATH", driver_folder.c_str(), 1);
    if (!preload.empty())
        setenv("LD_PRELOAD", behind_others(preload).c_str(), 1);
    setenv("ASAN_OPTIONS", asan_options, 1);
    setenv("TSAN_OPTIONS", tsan_options, 1);
    execv("/proc/self/exe", argv);
    std::perror("execv");
    std::exit(2);
}

#endif
