/* A kernel's assertions stop the core. */
#undef assert
#ifdef NDEBUG
#define assert(condition) ((void)0)
#else
#ifdef __cplusplus
extern "C"
#endif
    __attribute__((noreturn)) void
    __assert_fail(const char *what, const char *file, int line, const char *function);
#define assert(condition) ((condition) ? (void)0 : __assert_fail(#condition, __FILE__, __LINE__, __func__))
#endif
#if !defined(__cplusplus) && (!defined(__STDC_VERSION__) || __STDC_VERSION__ < 202311L)
#undef static_assert
#define static_assert _Static_assert
#endif
