/* SPDX-License-Identifier: MIT */
/*
 * Sequences of calls of the module: a sequence is what its genes say, byte by byte, and random numbers that these
 * begin, where there are no more. What one process does with its threads and children.
 */
#ifndef KS_SEQUENCES_H
#define KS_SEQUENCES_H

#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

enum { SEQUENCE_GENES = 128, SEQUENCE_WORKERS = 6 };

/* What all processes see. */
struct sequences_shared {
	_Atomic uint64_t calls;
	_Atomic pid_t workers[SEQUENCE_WORKERS];
	int sockets[2]; /* for descriptors that wander */
};

/* Makes the calls. Does not return to what the caller was: the process may have changed in any way. */
void sequence_run(struct sequences_shared *shared, const uint8_t *genes);

/* What the program is that a sequence executes: it keeps what it inherited for a moment. */
int sequence_rest(void);

#endif /* KS_SEQUENCES_H */
