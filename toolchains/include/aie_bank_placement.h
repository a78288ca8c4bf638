/* Static data in a memory bank of its own: put AIE_BANK_A to AIE_BANK_D behind the name of a static variable.
 *
 *     #include "aie_bank_placement.h"
 *     alignas(64) static const int table_ab[16] AIE_BANK_A = {1, 2, 3};
 *     alignas(64) static int history[64] AIE_BANK_B;
 *
 * Peano and LLVM take a section, which aiecc gives a region in that bank; Chess takes a storage constraint.
 * The annotation belongs on the definition. It does not move what lies on the stack.
 *
 * Every variable gets a section of its own, `.aie.bank0.1`, `.aie.bank0.2` ...: a constant table and a variable may
 * share a bank, which they could not in one section, and the linker drops each table that nobody reads.
 */
#ifndef AIE_BANK_PLACEMENT_H
#define AIE_BANK_PLACEMENT_H

#if defined(__chess__) || defined(__chess_clang__)

#define AIE_BANK_A chess_storage(DM_bankA)
#define AIE_BANK_B chess_storage(DM_bankB)
#define AIE_BANK_C chess_storage(DM_bankC)
#define AIE_BANK_D chess_storage(DM_bankD)

#elif defined(__clang__) || defined(__GNUC__)

#define AIE_BANK_TEXT_(x) #x
#define AIE_BANK_TEXT(x) AIE_BANK_TEXT_(x)
#define AIE_BANK_IN(bank) __attribute__((section(".aie.bank" #bank "." AIE_BANK_TEXT(__COUNTER__))))
#if defined(__clang__)
/* Spares kernels that compile with -pedantic a remark on __COUNTER__. */
#define AIE_BANK_SECTION(bank)                                                                                         \
  _Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wpedantic\"") AIE_BANK_IN(bank)                \
      _Pragma("clang diagnostic pop")
#else
#define AIE_BANK_SECTION(bank) AIE_BANK_IN(bank)
#endif

#define AIE_BANK_A AIE_BANK_SECTION(0)
#define AIE_BANK_B AIE_BANK_SECTION(1)
#define AIE_BANK_C AIE_BANK_SECTION(2)
#define AIE_BANK_D AIE_BANK_SECTION(3)

#else
#error "aie_bank_placement.h: this compiler has no way to place data in a bank"
#endif

#endif
