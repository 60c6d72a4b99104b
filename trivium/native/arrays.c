#include "arrays.h"

static ptrdiff_t head;
static const int CONTIGUOUS = 0x1, ALIGNED = 0x100; /* flags of NumPy's */

/* To be called once, with the bytes of a Python object's head: ``object.__basicsize__``. */
EXPORT void set_head(int64_t bytes) { head = (ptrdiff_t)bytes; }

/* The level of instructions that this processor has, of those that Trivium is compiled for; 0 for the basic one. */
EXPORT int64_t level(void) {
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512cd"))
        return 4;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma"))
        return 3;
#endif
    return 0;
}

const array *array_of(const void *object, int dimensions, size_t bytes) {
    const array *found = (const array *)((const char *)object + head);
    if (found->dimensions != dimensions || (found->flags & (CONTIGUOUS | ALIGNED)) != (CONTIGUOUS | ALIGNED))
        return NULL;
    for (int axis = 0; axis < dimensions; axis++)
        if (found->shape[axis] == 0)
            return found; /* strides of no numbers say nothing */
    return found->strides[dimensions - 1] == (intptr_t)bytes || found->shape[dimensions - 1] == 1 ? found : NULL;
}
