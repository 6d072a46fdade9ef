/* SPDX-License-Identifier: MIT */
/* Test cases that print TAP, each in a process of its own. */
#ifndef PTSCHED_TEST_TAP_HPP
#define PTSCHED_TEST_TAP_HPP

#include <functional>
#include <stdexcept>
#include <string>

namespace tap {

/* A case that failed says why by throwing this. */
class Failure : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/* A case that cannot be tried here, and why. */
class Skipped : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/* Registers a case at start-up. */
struct Case {
    Case(const char *name, std::function<void()> body);
};

/* Runs all cases whose name contains @filter, @before each; the exit status. */
int run(const std::string &filter, const std::function<void()> &before);

/*
 * From here on the running case has less than a second: that is as long as a slice, a grace time or a debt lasts. If it
 * fails and was slower, that may be why, and it is run anew.
 */
void hurry();

std::string errno_name(long value);

[[noreturn]] void fail(const char *file, int line, const std::string &text);

template <typename Expected, typename Actual>
void check_equal(const char *file, int line, const char *text, Expected expected, Actual actual)
{
    if (static_cast<long long>(expected) == static_cast<long long>(actual))
        return;
    fail(file, line,
         std::string(text) + " is " + errno_name(static_cast<long>(actual)) + ", expected " +
             errno_name(static_cast<long>(expected)));
}

} // namespace tap

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            tap::fail(__FILE__, __LINE__, #condition " is false");                                                     \
    } while (0)
#define CHECK_EQ(expected, actual) tap::check_equal(__FILE__, __LINE__, #actual, (expected), (actual))

#define TEST_JOIN_(a, b) a##b
#define TEST_JOIN(a, b) TEST_JOIN_(a, b)
#define TEST_NUMBER(name, number)                                                                                      \
    static void TEST_JOIN(test_case_, number)();                                                                       \
    static tap::Case TEST_JOIN(test_registration_, number)(name, TEST_JOIN(test_case_, number));                       \
    static void TEST_JOIN(test_case_, number)()
#define TEST(name) TEST_NUMBER(name, __COUNTER__)

#endif
