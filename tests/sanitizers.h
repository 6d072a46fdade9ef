/* SPDX-License-Identifier: MIT */
/*
 * Whether a test is built with a sanitizer, and so with memory of the sanitizer's own: g++ defines a macro, the clang
 * of Debian 12 has a feature instead. PTSCHED_TEST_TSAN: with that for threads; PTSCHED_TEST_ASAN: with that for addresses;
 * PTSCHED_TEST_SANITIZED: with either.
 */
#ifndef PTSCHED_TEST_SANITIZERS_H
#define PTSCHED_TEST_SANITIZERS_H

#ifndef __has_feature
#define __has_feature(feature) 0
#endif

#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
#define PTSCHED_TEST_TSAN
#endif

#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#define PTSCHED_TEST_ASAN
#endif

#if defined(PTSCHED_TEST_TSAN) || defined(PTSCHED_TEST_ASAN)
#define PTSCHED_TEST_SANITIZED
#endif

#endif /* PTSCHED_TEST_SANITIZERS_H */
