# stampede: build, test and measure. `make help` lists the goals.
CC      ?= gcc
PREFIX  ?= /usr/local
BUILD   ?= build
OPT     ?= -O2
PKGS    := glib-2.0 gmodule-2.0 gio-2.0 yaml-0.1 json-glib-1.0 libxxhash libcgraph libgvc nlopt
WARN    := -Wall -Wextra -Wshadow -Wconversion -Werror
CFLAGS  ?= -g $(OPT)
# -ffp-contract=off: fused multiply-add would make results depend on the CPU.
ALL_CFLAGS := -std=gnu11 -D_GNU_SOURCE -ffp-contract=off $(WARN) -I. $(shell pkg-config --cflags $(PKGS) | sed 's/-I/-isystem /g') $(CFLAGS)
LIBS    := $(shell pkg-config --libs $(PKGS)) -lm

FOLDERS := model/world model/memory model/postgres traces sim/scenario sim checks viz
SRC     := $(foreach d,$(FOLDERS),$(wildcard $(d)/*.c))
ASM     := $(wildcard model/world/*.S)
OBJ     := $(SRC:%.c=$(BUILD)/obj/%.o) $(ASM:%.S=$(BUILD)/obj/%.o)
TESTS   := $(patsubst tests/%.c,$(BUILD)/tests/%,$(wildcard tests/test_*.c))

all: $(BUILD)/stampede
$(BUILD)/stampede: $(BUILD)/obj/stampede.o $(BUILD)/libstampede.a
	$(CC) $(ALL_CFLAGS) -rdynamic -o $@ $^ $(LIBS)
$(BUILD)/libstampede.a: $(OBJ)
	rm -f $@ && ar rcs $@ $(OBJ)
$(BUILD)/obj/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<
$(BUILD)/obj/%.o: %.S Makefile
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -c -o $@ $<
$(BUILD)/tests/%: tests/%.c $(BUILD)/libstampede.a
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -MMD -MP -o $@ $< $(BUILD)/libstampede.a $(LIBS) -lcunit
test: $(TESTS)
	@set -e; for t in $(TESTS); do timeout 300 $$t; done
clean:
	rm -rf $(BUILD)
.PHONY: all test clean
-include $(OBJ:.o=.d) $(TESTS:=.d)
