/* SPDX-License-Identifier: MIT */
/* Runs a test program again with the interposer and a driver beside it: from the build folder, wherever that is. */
#ifndef TEST_PRELOAD_UNDER_PRELOAD_H
#define TEST_PRELOAD_UNDER_PRELOAD_H

#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

/* The folder of the running program. */
inline std::filesystem::path program_folder()
{
    return std::filesystem::read_symlink("/proc/self/exe").parent_path();
}

/* Returns in the program that runs with @preload (empty: none) and with @driver_folder searched for libraries. */
inline void run_under(char **argv, const std::string &preload, const std::string &driver_folder)
{
    if (std::getenv("PTSCHED_TEST_UNDER"))
        return;
    setenv("PTSCHED_TEST_UNDER", "1", 1);
    setenv("LD_LIBRARY_PATH", driver_folder.c_str(), 1);
    if (!preload.empty())
        setenv("LD_PRELOAD", preload.c_str(), 1);
    /* A sanitized interposer in front of the sanitizer's own library. */
    setenv("ASAN_OPTIONS", "verify_asan_link_order=0:detect_leaks=0", 1);
    /* Tests fork while the interposer has its thread. */
    setenv("TSAN_OPTIONS", "die_after_fork=0:atexit_sleep_ms=20", 1);
    execv("/proc/self/exe", argv);
    std::perror("execv");
    std::exit(2);
}

#endif
