# Start-up, first half: the entry point, at address 0 of program memory.
#
# The AI Engine's stack grows up from _sp_start_value_DM_stack; RISC-V's grows down, so it starts where the
# reservation ends. The linker's command line says where that is. Every RISC-V frame is a multiple of 16 bytes, so
# rounding the end down loses nothing that a frame could have used.

    .section .text.__start, "ax", @progbits
    .globl __start
    .type __start, @function
__start:
    lui   sp, %hi(_sp_end_value_DM_stack)
    addi  sp, sp, %lo(_sp_end_value_DM_stack)
    andi  sp, sp, -16
    # Floating point on (mstatus.FS), for those who run the program on a simulator that starts with it off.
    lui   t0, 6
    csrs  mstatus, t0
    call  _main_init
1:
    j     1b
    .size __start, . - __start
