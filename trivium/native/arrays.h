/* NumPy's arrays as these loops see them: their shape and numbers are read where NumPy keeps them, so that neither
   Python's nor NumPy's headers are needed to compile, and one library serves every version of Python. */
#ifndef TRIVIUM_ARRAYS_H
#define TRIVIUM_ARRAYS_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(_WIN32)
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

/* What a loop answers that was given another array than it takes. */
#define REFUSED INT64_MIN

/* What follows the head of every Python object in an array: the first members of NumPy's PyArrayObject_fields. */
typedef struct {
    char *data;
    int dimensions;
    intptr_t *shape;
    intptr_t *strides;
    void *base, *kind;
    int flags;
} array;

/* Return an array if it has so many dimensions of contiguous, aligned numbers of so many bytes, else NULL. */
const array *array_of(const void *object, int dimensions, size_t bytes);

/* Declare `name`, the numbers of an array that a loop was given, or refuse it. */
#define TAKE(type, name, dimensions)                                                                                   \
    const array *name##_array = array_of(name##_object, dimensions, sizeof(type));                                     \
    if (name##_array == NULL)                                                                                          \
        return REFUSED;                                                                                                \
    type *restrict name = (type *)name##_array->data;                                                                  \
    (void)name

#define LENGTH(name) ((int64_t)name##_array->shape[0])
#define WIDTH(name) ((int64_t)name##_array->shape[1])

/* Tell the processor which memory is needed soon. A hint: it never fails, whatever the address. */
#define FETCH(address) __builtin_prefetch((const void *)(address), 0, 3)
#define CACHE_LINE 64

static inline double most(double a, double b) { return a > b ? a : b; }
static inline double least(double a, double b) { return a < b ? a : b; }

#endif
