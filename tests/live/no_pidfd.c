/* no_pidfd.c - runs a command where the kernel knows no pidfd_open (ENOSYS), as those before Linux 5.3 do.
 *
 * Usage: no_pidfd COMMAND... */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv) {
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pidfd_open, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {.len = sizeof code / sizeof *code, .filter = code};
  if (argc < 2) return fprintf(stderr, "usage: no_pidfd COMMAND...\n"), 2;
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0 ||
      syscall(SYS_pidfd_open, getpid(), 0) >= 0 || errno != ENOSYS)
    return perror("no_pidfd"), 3;
  execvp(argv[1], argv + 1);
  perror(argv[1]);
  return 127;
}
