/* result_pack.h - a result as bytes, from a process to the one that started it: same program, same machine. */
#pragma once
#include "sim/result.h"

void result_pack(const RunResult *r, GByteArray *out);
/* Checks are found again by name in `table`. NULL: not what result_pack wrote, or a check that nobody knows. */
RunResult *result_unpack(const guint8 *bytes, gsize length, const CheckTable *table);
