extern int main(void);

void __aiecc_acquire(int lock, int value) { (void)lock, (void)value; }
void __aiecc_release(int lock, int value) { (void)lock, (void)value; }

void _main_init(void) {
  main();
  __asm__ volatile("" ::: "memory");
}
