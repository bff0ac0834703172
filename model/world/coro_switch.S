/* coro_switch.S - the switch between two stacks.
 *
 *   bool coro_switch(void **save_sp, void *to_sp, bool value);
 *
 * Pushes the registers that a callee must keep, stores the stack pointer in *save_sp, takes to_sp, pops the registers
 * found there and returns `value` to whoever called coro_switch on that stack. coro_start is where a new stack begins:
 * coro.c lays out what the first switch pops, with the coroutine in a kept register.
 * The control words of floating point are not switched: nothing here, nor in PostgreSQL, changes them.
 * No .note.gnu.property: objects with shadow stacks or BTI on must be built for ucontext (CORO_UCONTEXT). */

#if defined __x86_64__

    .text
    .globl coro_switch
    .type coro_switch, @function
    .p2align 6
coro_switch:
    .cfi_startproc
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    movl %edx, %eax
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    /* Not ret: the processor's stack of return addresses belongs to the other side and would be wrong every time; a jump
     * is predicted from where it went before. */
    popq %rcx
    jmp *%rcx
    .cfi_endproc
    .size coro_switch, .-coro_switch

    .globl coro_start
    .type coro_start, @function
    .p2align 4
coro_start:
    .cfi_startproc
    .cfi_undefined rip          /* the outermost frame: unwinders stop here */
    movq %rbx, %rdi
    call coro_main
    ud2
    .cfi_endproc
    .size coro_start, .-coro_start

#elif defined __aarch64__

    .text
    .globl coro_switch
    .type coro_switch, %function
    .p2align 6
coro_switch:
    .cfi_startproc
    sub sp, sp, #160
    stp x19, x20, [sp, #0]
    stp x21, x22, [sp, #16]
    stp x23, x24, [sp, #32]
    stp x25, x26, [sp, #48]
    stp x27, x28, [sp, #64]
    stp x29, x30, [sp, #80]
    stp d8, d9, [sp, #96]
    stp d10, d11, [sp, #112]
    stp d12, d13, [sp, #128]
    stp d14, d15, [sp, #144]
    mov x9, sp
    str x9, [x0]
    mov sp, x1
    and w0, w2, #1
    ldp x19, x20, [sp, #0]
    ldp x21, x22, [sp, #16]
    ldp x23, x24, [sp, #32]
    ldp x25, x26, [sp, #48]
    ldp x27, x28, [sp, #64]
    ldp x29, x30, [sp, #80]
    ldp d8, d9, [sp, #96]
    ldp d10, d11, [sp, #112]
    ldp d12, d13, [sp, #128]
    ldp d14, d15, [sp, #144]
    add sp, sp, #160
    ret
    .cfi_endproc
    .size coro_switch, .-coro_switch

    .globl coro_start
    .type coro_start, %function
    .p2align 4
coro_start:
    .cfi_startproc
    .cfi_undefined x30
    mov x0, x19
    bl coro_main
    brk #1
    .cfi_endproc
    .size coro_start, .-coro_start

#endif

    .section .note.GNU-stack, "", %progbits
