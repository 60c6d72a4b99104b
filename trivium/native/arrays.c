#include "arrays.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

static ptrdiff_t head;
static const int CONTIGUOUS = 0x1, ALIGNED = 0x100, WRITEABLE = 0x400; /* flags of NumPy's */

/* To be called once, with the bytes of a Python object's head: ``object.__basicsize__``. */
EXPORT void set_head(int64_t bytes) { head = (ptrdiff_t)bytes; }

/* The level of instructions of x86-64 that this processor and its system have, of those that Trivium is compiled for; 0 for the
   basic one. Asked of the processor itself: what compilers offer for it answers nothing in some of their libraries. */
EXPORT int64_t level(void) {
#if defined(__x86_64__)
    unsigned a, b, c, d, features, more, low, high;
    if (!__get_cpuid(1, &a, &b, &features, &d) || !__get_cpuid(0x80000001, &a, &b, &more, &d) ||
        !__get_cpuid_count(7, 0, &a, &b, &c, &d))
        return 0;
    /* FMA, MOVBE, OSXSAVE, AVX, F16C; LZCNT; BMI1, AVX2, BMI2 */
    const unsigned third = 1u << 12 | 1u << 22 | 1u << 27 | 1u << 28 | 1u << 29, wide = 1u << 3 | 1u << 5 | 1u << 8;
    if ((features & third) != third || !(more & 1u << 5) || (b & wide) != wide)
        return 0;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0)); /* which registers the system keeps */
    if ((low & 0x6) != 0x6)
        return 0;
    /* AVX-512 F, DQ, CD, BW, VL */
    const unsigned fourth = 1u << 16 | 1u << 17 | 1u << 28 | 1u << 30 | 1u << 31;
    return (b & fourth) == fourth && (low & 0xe6) == 0xe6 ? 4 : 3;
#else
    return 0;
#endif
}

const array *array_of(const void *object, int dimensions, const char *letters, size_t bytes, int written) {
    const array *found = (const array *)((const char *)object + head);
    int flags = CONTIGUOUS | ALIGNED | (written ? WRITEABLE : 0);
    if (found->dimensions != dimensions || (found->flags & flags) != flags)
        return NULL;
    /* Of NumPy's PyArray_Descr: behind its head and a pointer stand the letters of its kind and of its type. */
    char letter = ((const char *)found->descriptor)[head + (ptrdiff_t)sizeof(void *) + 1];
    if (strchr(letters, letter) == NULL)
        return NULL;
    for (int axis = 0; axis < dimensions; axis++)
        if (found->shape[axis] == 0)
            return found; /* strides of no numbers say nothing */
    return found->strides[dimensions - 1] == (intptr_t)bytes || found->shape[dimensions - 1] == 1 ? found : NULL;
}
