/* front.c - see front.h. Between a compiler's call of a hook and its return all registers that a callee may use are
 * free, flags too, and a hook has nothing to give back: so a few instructions may stand before the call, and around it.
 *
 * What they do is what hooks.c's touch_word does with a load whose line was seen: nothing else is decided here, and
 * where any of it does not hold nothing has been counted and the hook is called, its return address where it ever was:
 * in the line, and the function, that the compiler says. Stores are called: they are looked at more closely. */
#include "sim/subject/front.h"
#include "sim/subject/hooks.h"
#include <string.h>

#if defined __x86_64__
/* Parts of the count take turns, as a loop's loads stand next to each other: one would have to wait for the other. */
static const char macro[] = ".macro stm_read bytes, part\n"
                            "\tmovq\t" HOOKS_SYMBOL "@GOTPCREL(%rip), %rax\n"
                            "\tmovl\t%edi, %edx\n"
                            "\tmovq\t%rdi, %rcx\n"
                            "\tandl\t$64*63, %edx\n"
                            "\tandq\t$~(64-\\bytes), %rcx\n"
                            "\tcmpq\t%rcx, 64(%rax,%rdx)\n"
                            "\tjne\t1f\n"
                            "\tmovq\t%rcx, (%rax)\n"
                            "\tdecq\t8+8*\\part(%rax)\n"
                            "\tjns\t2f\n"
                            "\tincq\t8+8*\\part(%rax)\n"
                            "1:\tcall\t*__tsan_read\\bytes@GOTPCREL(%rip)\n"
                            "2:\n"
                            ".endm\n";
G_STATIC_ASSERT(HOOKS_LINE == 64 && HOOKS_SEEN == 64);

/* "call __tsan_read4@PLT", callq: what is called; NULL: no hook. */
static const char *hook_called(const char *line) {
  line += strspn(line, " \t");
  if (!g_str_has_prefix(line, "call")) return NULL;
  line += strcspn(line, " \t");
  line += strspn(line, " \t");
  return g_str_has_prefix(line, "__tsan_") ? line + strlen("__tsan_") : NULL;
}

static void put_hook(GString *out, const char *name, guint *loads) {
  g_autofree char *whole = g_strndup(name, strcspn(name, "@ \t\r"));
  if (g_str_has_prefix(whole, "read") && g_ascii_isdigit(whole[4]))
    g_string_append_printf(out, "\tstm_read %s, %u\n", whole + 4, (*loads)++ % HOOKS_LOADS);
  else
    g_string_append_printf(out, "\tcall\t*__tsan_%s@GOTPCREL(%%rip)\n", whole);
}

char *front_put(const char *text) {
  GString *out = g_string_new(macro);
  guint loads = 0;
  for (const char *line = text, *end; *line; line = end) {
    end = line + strcspn(line, "\n");
    end += *end == '\n';
    const char *name = hook_called(line);
    if (name && name < end)
      put_hook(out, name, &loads);
    else
      g_string_append_len(out, line, end - line);
  }
  return g_string_free(out, FALSE);
}
#else
char *front_put(const char *text) {
  return g_strdup(text);
}
#endif
