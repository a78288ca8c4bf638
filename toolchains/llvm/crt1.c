/* Start-up, second half: calls the core, which the linker script names main.
 *
 * Its frame stays live under the whole program, so it counts. Static constructors are not run: the call would go
 * through a table of pointers, and no core's stack could be measured exactly any more.
 */

extern int main(void);

void _main_init(void) {
  main();
  __asm__ volatile("" ::: "memory"); /* no tail call: the frame is what is measured */
}
