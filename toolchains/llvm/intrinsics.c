/* The AI Engine's intrinsics as calls: `llvm.aie2.acquire` is `__aiecc_acquire`, and so on.
 *
 * These are weak and do nothing: enough to compile, link and measure a core, and to run one alone on a simulator,
 * where nobody else holds a lock or feeds a stream. Whoever simulates more defines functions of the same names.
 *
 * Only what a core's own ops are lowered to is here. A kernel that needs intrinsics of the vector unit ends in an
 * undefined symbol with the intrinsic's name in it.
 */

#define WEAK __attribute__((weak))

/* From AIE2 on. */

typedef int words __attribute__((vector_size(64)));

struct stream_word {
  int value;
  int last;
};

/* A lock by the number the core knows it by, and a value; a negative one of acquire means "at least". */
WEAK void __aiecc_acquire(int lock, int value) { (void)lock, (void)value; }
WEAK void __aiecc_release(int lock, int value) { (void)lock, (void)value; }

/* One word of a stream, with the mark of a packet's last one. */
WEAK struct stream_word __aiecc_get_ss(void) { return (struct stream_word){0, 0}; }
WEAK void __aiecc_put_ms(int value, int last) { (void)value, (void)last; }

/* 512 bits of a cascade. What is written comes in registers nobody looks at. */
WEAK words __aiecc_scd_read_vec(int enable) { return (void)enable, (words){0}; }
WEAK void __aiecc_mcd_write_vec(void) {}

/* A trace event; a control register (saturation, rounding). */
WEAK void __aiecc_event(int number) { (void)number; }
WEAK void __aiecc_set_ctrl_reg(int which, int value) { (void)which, (void)value; }

/* AIE1. */

struct quad {
  int word[4];
};

struct cascade {
  int word[12];
};

WEAK void __aiecc_aie1_lock_acquire_reg(int lock, int value) { (void)lock, (void)value; }
WEAK void __aiecc_aie1_lock_release_reg(int lock, int value) { (void)lock, (void)value; }
WEAK int __aiecc_aie1_get_ss(int stream) { return (void)stream, 0; }
WEAK float __aiecc_aie1_get_fss(int stream) { return (void)stream, 0.0f; }
WEAK struct quad __aiecc_aie1_get_wss(int stream) { return (void)stream, (struct quad){{0}}; }
WEAK void __aiecc_aie1_put_ms(int stream, int value) { (void)stream, (void)value; }
WEAK void __aiecc_aie1_put_fms(int stream, float value) { (void)stream, (void)value; }
WEAK void __aiecc_aie1_put_wms(int stream) { (void)stream; }
WEAK struct cascade __aiecc_aie1_get_scd(void) { return (struct cascade){{0}}; }
WEAK void __aiecc_aie1_put_mcd(void) {}
WEAK void __aiecc_aie1_event0(void) {}
WEAK void __aiecc_aie1_event1(void) {}

/* `aie.debug`. */
WEAK void debug_i32(int value) { (void)value; }
