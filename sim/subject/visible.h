/* visible.h - text of a subject's as it may stand in a terminal and in a report. */
#pragma once

/* A copy: control characters and bytes that are no UTF-8 as \n, \t or \xNN, all else as it is. NULL: "". */
char *visible_text(const char *text);
