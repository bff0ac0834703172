/* code.c - what is asked of real code whatever it does: that it does not stop the server, and that each semaphore has
 * at the end the count it was made with. An up too many ends somebody's next wait at once; one too few leaves it for
 * good.
 */
#include "checks/checks.h"
#include "sim/subject/subject.h"
#include <string.h>

Judgement check_no_panic(const Model *m, GString *why) {
  static const char panic[] = "PANIC: ";
  const Subject *code = model_subject(m);
  const char *fault = code ? subject_fault(code) : NULL;
  if (!code) return JUDGED_BLIND;
  if (!fault || !g_str_has_prefix(fault, panic)) return JUDGED_FINE;
  g_string_assign(why, fault + strlen(panic));
  return JUDGED_BROKEN;
}

Judgement check_semaphores_conserved(const Model *m, GString *why) {
  const Subject *code = model_subject(m);
  if (!code) return JUDGED_BLIND;
  if (!m->ops->done(m) || subject_fault(code)) return JUDGED_FINE;
  return subject_semaphore_off(code, why) ? JUDGED_BROKEN : JUDGED_FINE;
}
