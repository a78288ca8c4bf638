    .section .text.__start, "ax", @progbits
    .globl __start
    .type __start, @function
__start:
    lui   sp, %hi(_sp_end_value_DM_stack)
    addi  sp, sp, %lo(_sp_end_value_DM_stack)
    call  _main_init
1:
    j     1b
    .size __start, . - __start
