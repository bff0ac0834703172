# stampede: build, test and measure. `make help` lists the goals.
ifeq ($(origin CC),default)
CC      := gcc
endif
ifeq ($(SAN),1)
BUILD   ?= build-san
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
endif
BUILD   ?= build
PREFIX  ?= /usr/local
DESTDIR ?=
OPT     ?= -O2
CFLAGS  ?= -g $(OPT)
PKGS    := glib-2.0 gmodule-2.0 gio-2.0 yaml-0.1 json-glib-1.0 libxxhash libcgraph libgvc nlopt libdw libelf libcrypto libssl
WARN    := -Wall -Wextra -Wshadow -Wconversion -Werror
# V=1 shows whole commands.
Q       := $(if $(V),,@)
FUZZ_CC ?= clang
FUZZ_TIME ?= 10
# Suites that `make test` also runs under valgrind: quick ones over the code that juggles memory.
MEMCHECK ?= test_arena test_coro test_ledger test_wire test_wire_login

# Goals that work before the libraries are there; every other one says in a line what to do.
BARE_GOALS := help deps test demo clean uninstall
ifneq ($(filter-out $(BARE_GOALS),$(or $(MAKECMDGOALS),all)),)
ifneq ($(shell pkg-config --exists $(PKGS) 2>/dev/null && echo there),there)
$(error pkg-config or a library is missing: run "make deps")
endif
PKG_CFLAGS := $(shell pkg-config --cflags $(PKGS) | sed 's/-I/-isystem /g')
LIBS    := $(shell pkg-config --libs $(PKGS)) -lm
endif
# -ffp-contract=off: fused multiply-add would make results depend on the CPU.
ALL_CFLAGS = -std=gnu11 -D_GNU_SOURCE -ffp-contract=off $(WARN) -I. $(PKG_CFLAGS) $(CFLAGS) $(SANITIZE)
FUZZ_CFLAGS = -std=gnu11 -D_GNU_SOURCE -ffp-contract=off $(WARN) -I. $(PKG_CFLAGS) -g -O1 -fno-sanitize-recover=all

# The explorer's inner loop goes through many small functions of these files, so the program is linked with their bodies
# in view (a fifth faster, by `make bench`); gcc alone can keep plain code beside, which tests and clang link as ever.
HOT     := $(wildcard model/world/*.c model/pooler/*.c checks/search*.c checks/bfs*.c checks/st*.c checks/timeline.c) \
           $(wildcard checks/schedules*.c sim/subject/interleave*.c sim/subject/machine*.c sim/subject/image*.c)
ifneq ($(findstring gcc,$(CC)),)
LTO     := $(if $(SANITIZE)$(findstring --coverage,$(CFLAGS)),,-flto=auto -ffat-lto-objects)
endif

FOLDERS := model/world model/memory model/postgres model/pooler traces sim/scenario sim/subject sim/calibrate sim/live sim checks viz
SRC     := $(foreach d,$(FOLDERS),$(wildcard $(d)/*.c))
ASM     := $(wildcard model/world/*.S)
OBJ     := $(SRC:%.c=$(BUILD)/obj/%.o) $(ASM:%.S=$(BUILD)/obj/%.o)
FUZZOBJ := $(OBJ:$(BUILD)/obj/%=$(BUILD)/fuzz/obj/%)
PROGRAM := $(BUILD)/stampede
# Preloaded into real poolers (sim/live/README.md); found beside the program.
GATE    := $(BUILD)/stampede-gate.so
# User-written models as shared objects (model/world/TUTORIAL.md): the tutorial's and the benchmarks'.
MODELS  := $(patsubst tests/models/%.c,$(BUILD)/models/%.so,$(wildcard tests/models/*.c))
# Subjects that come with the program, each made of its manifest.
SUBJECTS := $(patsubst sim/subject/bundled/%.yaml,$(BUILD)/subjects/%.so,$(wildcard sim/subject/bundled/*.yaml))
SUBJECT_CC ?= gcc
TESTS   := $(patsubst tests/%.c,$(BUILD)/tests/%,$(wildcard tests/test_*.c))
# The small poolers of the tests of live, and one that cannot be preloaded.
POOLERS := $(patsubst tests/live/%.c,$(BUILD)/tests/live/%,$(wildcard tests/live/*.c)) $(BUILD)/tests/live/tiny-static
# What talks to real servers and libpq, for tests/e2e_wire.sh.
WIRES   := $(patsubst tests/%.c,$(BUILD)/tests/%,$(wildcard tests/wire_*.c))
BENCHES := $(patsubst tests/%.c,$(BUILD)/tests/%,$(wildcard tests/bench_*.c))
FUZZERS := $(patsubst tests/%.c,$(BUILD)/fuzz/%,$(wildcard tests/fuzz_*.c))
MANPAGES := $(BUILD)/stampede.1 $(BUILD)/stampede-scenario.5
# A recursive make keeps the caller's -j; without one it uses every core.
MAKEJ    = $(MAKE) --no-print-directory $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc))

.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: conform live-100 FORCE all help deps test tests check builds demo coverage lint format tidy bench fuzz evidence table profiles man install uninstall clean

all: $(PROGRAM) $(GATE) $(MODELS) $(SUBJECTS)  ## the program, build/stampede (BUILD=DIR, OPT=-O0, CC=clang, SAN=1)

## --- build ---------------------------------------------------------------------------------------------------------
$(PROGRAM): $(BUILD)/obj/stampede.o $(OBJ)
	@echo link $@
	$(Q)$(CC) $(ALL_CFLAGS) $(LTO) -rdynamic -o $@ $^ $(LIBS)
$(HOT:%.c=$(BUILD)/obj/%.o): CFLAGS += $(LTO)
$(BUILD)/libstampede.a: $(OBJ)
	$(Q)rm -f $@ && ar rcs $@ $(OBJ)
$(BUILD)/obj/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	@echo $(CC) $@
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<
$(BUILD)/obj/%.o: %.S $(BUILD)/flags
	@mkdir -p $(@D)
	@echo $(CC) $@
	$(Q)$(CC) $(ALL_CFLAGS) -c -o $@ $<
# Never sanitized: it is loaded into programs that are not.
SHIM := $(wildcard sim/live/shim/*.c)
$(GATE): $(SHIM) $(wildcard sim/live/shim/*.h) sim/live/gate_protocol.h $(BUILD)/flags
	@echo $(CC) $@
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE $(WARN) -I. -O2 -fPIC -shared -fvisibility=hidden -o $@ $(SHIM)
$(BUILD)/models/%.so: tests/models/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	@echo $(CC) $@
	$(Q)$(CC) $(ALL_CFLAGS) -fPIC -shared -MMD -MP -MT $@ -MF $@.d -o $@ $<
$(BUILD)/subjects/%.so: sim/subject/bundled/%.yaml $(wildcard sim/subject/bundled/*.c) \
    sim/subject/include/stampede_subject.h $(PROGRAM)
	@mkdir -p $(@D)
	@echo subject $@
	$(Q)CC=$(SUBJECT_CC) $(PROGRAM) subject build --quiet --manifest $< -o $@
# The subject of tests, and who loads it: it calls back into the program.
TEST_SUBJECTS := $(patsubst tests/subjects/%.yaml,$(BUILD)/tests/subjects/%.so,$(wildcard tests/subjects/*.yaml))
$(BUILD)/tests/subjects/%.so: tests/subjects/%.yaml $(wildcard tests/subjects/*.[ch]) $(wildcard sim/subject/postgres/*.c) \
    $(wildcard sim/subject/postgres/overlay/*/*.h) sim/subject/include/stampede_subject.h $(PROGRAM)
	@mkdir -p $(@D)
	@echo subject $@
	$(Q)CC=$(SUBJECT_CC) $(PROGRAM) subject build --quiet --manifest $< -o $@
$(BUILD)/tests/test_subject $(BUILD)/tests/test_interleave $(BUILD)/tests/bench_subject: TEST_FLAGS = -rdynamic -DSUBJECTS='"$(BUILD)/tests/subjects"'
$(BUILD)/tests/test_subject $(BUILD)/tests/test_interleave $(BUILD)/tests/bench_subject: | $(TEST_SUBJECTS)
# Whole, for those who load subjects: what only these call is in no test's own words.
$(BUILD)/tests/test_subject $(BUILD)/tests/test_subject_agree $(BUILD)/tests/test_interleave $(BUILD)/tests/bench_subject: TEST_LIBRARY = -Wl,--whole-archive $(BUILD)/libstampede.a -Wl,--no-whole-archive
$(BUILD)/tests/test_gate: TEST_FLAGS = -DGATE_LIBRARY='"$(BUILD)/stampede-gate.so"' -DPOOLERS='"$(BUILD)/tests/live"'
$(BUILD)/tests/test_gate: | $(GATE) $(POOLERS)
# As a distribution builds its programs: calls checked by the C library are other functions, which the gate must know too.
$(BUILD)/tests/live/%: tests/live/%.c $(wildcard tests/live/*.h) $(BUILD)/flags
	@mkdir -p $(@D)
	@echo $(CC) $@
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE $(WARN) -g -O2 -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 -I. -o $@ $< -pthread
$(BUILD)/tests/live/tiny-static: tests/live/tiny.c $(BUILD)/flags
	@mkdir -p $(@D)
	@echo $(CC) $@
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE $(WARN) -g -O2 -static -o $@ $< -pthread
TEST_LIBRARY = $(BUILD)/libstampede.a
$(BUILD)/tests/%: tests/%.c $(BUILD)/libstampede.a
	@mkdir -p $(@D)
	@echo $(CC) $@
	$(Q)$(CC) $(ALL_CFLAGS) -fno-lto -MMD -MP -MT $@ -MF $@.d $(TEST_FLAGS) -o $@ $< $(TEST_LIBRARY) $(LIBS) -lcunit
# FORCE is phony, or .SECONDARY would let it be missing. Rewritten only when it says something new, so that another compiler or option rebuilds and nothing else does.
$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(CC) $(ALL_CFLAGS) $(LTO)' | cmp -s - $@ || echo '$(CC) $(ALL_CFLAGS) $(LTO)' > $@
FORCE:

man: $(MANPAGES)           ## the manual pages: stampede(1), stampede-scenario(5)
$(BUILD)/stampede.1: sim/man/stampede.1.in sim/man/options.sh $(PROGRAM)
	sim/man/options.sh $(PROGRAM) $< > $@
$(BUILD)/stampede-scenario.5: $(PROGRAM)
	$(PROGRAM) list --man-scenario > $@

## --- test ----------------------------------------------------------------------------------------------------------
test: deps                 ## installs what is missing, then runs everything the project has (SAN=1: ASan and UBSan)
	+@$(MAKEJ) check
tests: $(PROGRAM) $(GATE) $(MODELS) $(SUBJECTS) $(TESTS) $(POOLERS) $(WIRES) $(MANPAGES)  ## builds what tests need, runs none

check: tests builds $(if $(SANITIZE),,$(FUZZERS))  ## the same without installing anything
	@SAN='$(SAN)' MADE_WITH='$(MAKEOVERRIDES)' MEMCHECK='$(MEMCHECK)' FUZZ_TIME='$(FUZZ_TIME)' tests/run.sh $(BUILD)

# The same program by other compilers, for tests/e2e_determinism.sh; here, so that no test's time limit covers a build.
builds: build-det-gcc-O0 build-det-gcc-O3 build-det-clang-O2
build-det-%: FORCE
	+@$(MAKE) --no-print-directory SAN= BUILD=$@ CC=$(word 1,$(subst -, ,$*)) OPT=-$(word 2,$(subst -, ,$*)) all

fuzz: $(FUZZERS)           ## fuzz the readers for FUZZ_TIME seconds in all
	@tests/fuzz.sh $(BUILD) $(FUZZ_TIME)
$(BUILD)/fuzz/obj/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	@echo $(FUZZ_CC) $@
	$(Q)$(FUZZ_CC) $(FUZZ_CFLAGS) -fsanitize=fuzzer-no-link,address,undefined -MMD -MP -c -o $@ $<
$(BUILD)/fuzz/obj/%.o: %.S $(BUILD)/flags
	@mkdir -p $(@D)
	@echo $(FUZZ_CC) $@
	$(Q)$(FUZZ_CC) $(FUZZ_CFLAGS) -c -o $@ $<
$(BUILD)/fuzz/libstampede.a: $(FUZZOBJ)
	$(Q)rm -f $@ && ar rcs $@ $(FUZZOBJ)
$(BUILD)/fuzz/fuzz_%: tests/fuzz_%.c $(BUILD)/fuzz/libstampede.a
	@mkdir -p $(@D)
	@echo $(FUZZ_CC) $@
	$(Q)$(FUZZ_CC) $(FUZZ_CFLAGS) -fsanitize=fuzzer,address,undefined -MMD -MP -MT $@ -MF $@.d -o $@ $< $(BUILD)/fuzz/libstampede.a $(LIBS)

coverage:                  ## line coverage by folder, from the unit suites and the end-to-end tests
	+@$(MAKEJ) BUILD=build-cov CFLAGS='-g -Og --coverage' coverage-run
coverage-run: tests
	@find $(BUILD) -name '*.gcda' -delete
	@PARTS='suites e2e' tests/run.sh $(BUILD); status=$$?; tests/coverage.sh $(BUILD); exit $$status
.PHONY: coverage-run

## --- lint ----------------------------------------------------------------------------------------------------------
C_FILES  = $(SRC) $(wildcard stampede.c sim/live/shim/*.c tests/*.c tests/live/*.c)
H_FILES  = $(foreach d,$(FOLDERS) sim/live/shim tests,$(wildcard $(d)/*.h))
lint:                      ## formatting, clang-tidy, cppcheck, shellcheck, include arrows, a build with clang
	clang-format --dry-run -Werror $(C_FILES) $(H_FILES)
	+@$(MAKEJ) tidy
	cppcheck --quiet --std=c11 --language=c --enable=warning,performance,portability --inline-suppr -I. \
	  --suppress=missingIncludeSystem --suppress=varFuncNullUB --suppress=allocaCalled --suppress=legacyUninitvar --suppress=uninitvar:sim/plugged.c --error-exitcode=1 -j2 --library=gtk $(CPPCHECK_MACROS) $(C_FILES)
	shellcheck -x .ci/run $(wildcard .ci/*.sh tests/*.sh sim/*/*.sh sim/completion/*.bash)
	.ci/arrows.sh
	+@$(MAKEJ) CC=clang BUILD=build-clang build-clang/libstampede.a $(if $(wildcard stampede.c),all)
	@echo lint: clean
# What cppcheck cannot see for itself, as it does not read system headers.
CPPCHECK_MACROS = -D'G_GNUC_PRINTF(a,b)=' -D'G_DEFINE_QUARK(a,b)=' -D'G_DEFINE_AUTOPTR_CLEANUP_FUNC(a,b)=' -D'__has_include(a)=0'
format:                    ## put every C file into the form that lint asks for
	clang-format -i $(C_FILES) $(H_FILES)
tidy: $(patsubst %.c,$(BUILD)/tidy/%,$(C_FILES))
$(BUILD)/tidy/tests/%: tests/%.c .clang-tidy $(H_FILES)
	@$(TIDY)
$(BUILD)/tidy/%: %.c $(BUILD)/obj/%.o .clang-tidy
	@$(TIDY)
# Shallow analysis: a tenth of the time, and it has found what the deep one has.
TIDY = mkdir -p $(@D) && clang-tidy --quiet $< -- $(ALL_CFLAGS) -Xclang -analyzer-config -Xclang mode=shallow 2>$@.log && touch $@ || { cat $@.log >&2; exit 1; }

## --- measure -------------------------------------------------------------------------------------------------------
demo: deps                 ## installs, builds, and reproduces the published connect-storm table
	+@$(MAKEJ) all
	@tests/demo.sh $(BUILD)
bench: $(PROGRAM) $(MODELS) $(SUBJECTS) $(BENCHES)  ## speed and memory: one JSON line each, also in build/bench.jsonl
	@tests/bench.sh $(BUILD)
evidence: $(PROGRAM)       ## rewrite the measured blocks of README.md, and the tables of policies, from their commands
	@BUILD=$(BUILD) tests/evidence.sh
	@tests/table_c6.sh $(BUILD) model/pooler/POLICIES.md
live-100: all              ## every scenario of tests/live around its pooler 100 times: the traces are the same
	@bash tests/live_100.sh $(BUILD)
conform: all               ## the preset pgbouncer-1.18 against its binary, on every bundled scenario: sim/live/CONFORMANCE.md
	$(PROGRAM) live --conform --pooler /usr/sbin/pgbouncer --markdown >sim/live/CONFORMANCE.md || test $$? = 1
table: $(PROGRAM)          ## explore the policies of poolers against each other again: model/pooler/POLICIES.md
	@tests/table_c6.sh $(BUILD) model/pooler/POLICIES.md
confirm: $(PROGRAM)        ## page faults of a real PostgreSQL 15 against the simulation, N = 250, 500, 1000; some minutes
	@tests/confirm.sh $(BUILD)
trust: $(PROGRAM) $(BUILD)/tests/test_real_code  ## the same, and counts of real code, into sim/TRUST.md
	@BUILD=$(BUILD) tests/evidence.sh sim/TRUST.md
profiles: $(PROGRAM)       ## fit the bundled cost profiles again from the published tables
	@tests/profiles.sh $(BUILD)

## --- install -------------------------------------------------------------------------------------------------------
deps:                      ## install the Debian packages that build and tests need (only what is missing)
	@.ci/deps.sh all
BINDIR  = $(DESTDIR)$(PREFIX)/bin
SHARE   = $(DESTDIR)$(PREFIX)/share
LIBDIR  = $(DESTDIR)$(PREFIX)/lib/stampede
install: $(PROGRAM) $(GATE) $(MANPAGES) $(MODELS) $(SUBJECTS)  ## to PREFIX (/usr/local), under DESTDIR if given
	install -d $(BINDIR) $(SHARE)/man/man1 $(SHARE)/man/man5 $(SHARE)/bash-completion/completions
	install -m 755 $(PROGRAM) $(BINDIR)/stampede
	install -m 644 $(BUILD)/stampede.1 $(SHARE)/man/man1/
	install -m 644 $(BUILD)/stampede-scenario.5 $(SHARE)/man/man5/
	install -m 644 sim/completion/stampede.bash $(SHARE)/bash-completion/completions/stampede
	install -d $(LIBDIR)/models && install -m 755 $(MODELS) $(LIBDIR)/models/
	install -m 755 $(GATE) $(LIBDIR)/
	install -d $(LIBDIR)/subjects && install -m 755 $(SUBJECTS) $(LIBDIR)/subjects/
	for d in $$(cd sim && find subject/include subject/template subject/postgres -type d); do \
	  install -d $(SHARE)/stampede/$$d && \
	  find sim/$$d -maxdepth 1 -type f -exec install -m 644 -t $(SHARE)/stampede/$$d {} + || exit 1; done
	for d in scenarios suites presets profiles adapters data; do install -d $(SHARE)/stampede/$$d && \
	  find sim/$$d -maxdepth 1 -type f ! -name README.md -exec install -m 644 -t $(SHARE)/stampede/$$d {} + || exit 1; done
uninstall:                 ## remove what install has put there
	rm -f $(BINDIR)/stampede $(SHARE)/man/man1/stampede.1 $(SHARE)/man/man5/stampede-scenario.5
	rm -f $(SHARE)/bash-completion/completions/stampede
	rm -rf $(SHARE)/stampede $(LIBDIR)

clean:                     ## remove the build folders
	rm -rf $(BUILD) build-san build-cov build-clang build-det-*
help:                      ## this list
	@sed -n 's/^\([a-z]*\):.*##  *\(.*\)/  make \1\t\2/p' Makefile | expand -t 20

-include $(OBJ:.o=.d) $(TESTS:=.d) $(WIRES:=.d) $(MODELS:=.d) $(BENCHES:=.d) $(FUZZOBJ:.o=.d) $(FUZZERS:=.d) $(BUILD)/obj/stampede.d
