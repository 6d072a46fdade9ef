// SPDX-License-Identifier: MIT
/*
 * The contract of uapi/linux/ptsched.h, kept by the module and by the broker: the
 * same cases, whatever is behind the library.
 */
#include "tests/conformance/scheduler.hpp"
#include "tests/conformance/tap.hpp"
#include "tests/nice.h"

#include <cstdio>
#include <cstring>
#include <unistd.h>

namespace {

constexpr char kUsage[] = "usage: conformance [--module | --broker PROGRAM] [--only PART-OF-NAME]\n"
                          "By default the broker beside this program; the module if the program's name ends\n"
                          "with -module. The module must have been inserted with test_devices=2. Needs root.\n";

bool ends_with(const std::string &text, const std::string &end)
{
    return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

} // namespace

int main(int argc, char **argv)
{
    setvbuf(stdout, nullptr, _IOLBF, 0);
    bool module = ends_with(argv[0], "-module");
    std::string broker = scheduler::default_broker();
    std::string filter;
    for (int i = 1; i < argc; i++) {
        bool more = i + 1 < argc;
        if (!strcmp(argv[i], "--module")) {
            module = true;
        } else if (!strcmp(argv[i], "--broker") && more) {
            module = false;
            broker = argv[++i];
        } else if (!strcmp(argv[i], "--only") && more) {
            filter = argv[++i];
        } else {
            fputs(kUsage, stderr);
            return 2;
        }
    }
    if (geteuid() != 0) {
        puts("Bail out! the test changes users and nice values: run it as root");
        return 1;
    }
    try {
        test::begin_at_nice_0();
        if (module)
            scheduler::use_module();
        else
            scheduler::start_broker(broker);
        int status = tap::run(filter, scheduler::reset_settings);
        scheduler::stop_broker();
        return status;
    } catch (const std::exception &error) {
        printf("Bail out! %s\n", error.what());
        return 1;
    }
}
