/* SPDX-License-Identifier: MIT */
#ifndef TEST_COMES_TRUE_HPP
#define TEST_COMES_TRUE_HPP

#include <chrono>
#include <thread>

namespace test {

/* Blocks until @condition holds; false if that takes far longer than anything in a test does. */
template <typename Condition> bool comes_true(Condition condition)
{
    constexpr std::chrono::seconds longest{50};
    const auto until = std::chrono::steady_clock::now() + longest;
    while (!condition()) {
        if (std::chrono::steady_clock::now() > until)
            return false;
        std::this_thread::yield();
    }
    return true;
}

} // namespace test

#endif /* TEST_COMES_TRUE_HPP */
