/* SPDX-License-Identifier: MIT */
/* What a fuzz target reads its input by: after the end, there are only zeros. */
#ifndef PTSCHED_TEST_FUZZ_INPUT_H
#define PTSCHED_TEST_FUZZ_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fuzz_input {
	const uint8_t *at;
	const uint8_t *end;
};

static inline bool fuzz_is_empty(const struct fuzz_input *in)
{
	return in->at == in->end;
}

static inline uint8_t fuzz_byte(struct fuzz_input *in)
{
	return fuzz_is_empty(in) ? 0 : *in->at++;
}

static inline uint8_t fuzz_below(struct fuzz_input *in, uint8_t limit)
{
	return fuzz_byte(in) % limit;
}

/* From one byte: 0, then eight steps for each doubling, up to 4 s in nanoseconds; at last, all there is. */
static inline uint64_t fuzz_time(struct fuzz_input *in)
{
	uint8_t code = fuzz_byte(in);

	if (code == UINT8_MAX)
		return UINT64_MAX;
	return code ? (uint64_t)(8 + (code & 7)) << (code >> 3) >> 3 : 0;
}

/* The same with a bound. */
static inline uint64_t fuzz_time_within(struct fuzz_input *in, uint64_t least, uint64_t most)
{
	uint64_t time = fuzz_time(in);

	return time < least ? least : time > most ? most : time;
}

#endif /* PTSCHED_TEST_FUZZ_INPUT_H */
