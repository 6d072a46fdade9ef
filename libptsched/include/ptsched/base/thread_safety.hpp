/* SPDX-License-Identifier: MIT */
/*
 * Which lock protects what, and which is to be held where: clang's thread-safety analysis holds the code to it
 * (-Wthread-safety). Other compilers see nothing.
 */
#ifndef PTSCHED_BASE_THREAD_SAFETY_HPP
#define PTSCHED_BASE_THREAD_SAFETY_HPP

#ifdef __clang__
#define PTSCHED_THREAD_SAFETY(...) __attribute__((__VA_ARGS__))
#else
#define PTSCHED_THREAD_SAFETY(...)
#endif

/* Of a type: it is a lock, or it holds one as long as it lives. */
#define PTSCHED_CAPABILITY(what) PTSCHED_THREAD_SAFETY(capability(what))
#define PTSCHED_SCOPED_CAPABILITY PTSCHED_THREAD_SAFETY(scoped_lockable)

/* Of a member or a variable. */
#define PTSCHED_GUARDED_BY(lock) PTSCHED_THREAD_SAFETY(guarded_by(lock))

/* Of a function: the lock is held before and after; it comes to be; it comes to be free; it is free before. */
#define PTSCHED_REQUIRES(...) PTSCHED_THREAD_SAFETY(requires_capability(__VA_ARGS__))
#define PTSCHED_ACQUIRE(...) PTSCHED_THREAD_SAFETY(acquire_capability(__VA_ARGS__))
#define PTSCHED_TRY_ACQUIRE(...) PTSCHED_THREAD_SAFETY(try_acquire_capability(__VA_ARGS__))
#define PTSCHED_RELEASE(...) PTSCHED_THREAD_SAFETY(release_capability(__VA_ARGS__))
#define PTSCHED_EXCLUDES(...) PTSCHED_THREAD_SAFETY(locks_excluded(__VA_ARGS__))
/* What it returns is that lock. */
#define PTSCHED_RETURNS_LOCK(lock) PTSCHED_THREAD_SAFETY(lock_returned(lock))
/* The analysis cannot follow it; a comment says why it is right. */
#define PTSCHED_NO_THREAD_SAFETY_ANALYSIS PTSCHED_THREAD_SAFETY(no_thread_safety_analysis)

#endif /* PTSCHED_BASE_THREAD_SAFETY_HPP */
