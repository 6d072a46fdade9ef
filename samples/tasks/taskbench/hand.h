/* SPDX-License-Identifier: MIT */
/* A stencil on a GPU without the library. Functions that can fail return what went wrong, or null. */
#ifndef SAMPLES_TASKBENCH_HAND_H
#define SAMPLES_TASKBENCH_HAND_H

#ifdef __cplusplus
extern "C" {
#endif

unsigned taskbench_hand_forms(void);
const char *taskbench_hand_name(unsigned form);
/*
 * All that can be made ready is, for each of the forms and that many points and steps, on the current device. Once
 * before runs, and again for other numbers.
 */
const char *taskbench_hand_open(unsigned width, unsigned steps, unsigned long iterations);
/* Runs all steps, and waits until they are done. */
const char *taskbench_hand_run(unsigned form);
/* What the last two steps have written is copied to @cells, of two rows of Cell. Says so if a kernel was wrong. */
const char *taskbench_hand_result(void *cells);

#ifdef __cplusplus
}
#endif

#endif /* SAMPLES_TASKBENCH_HAND_H */
