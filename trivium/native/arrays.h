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
    void *base, *descriptor;
    int flags;
} array;

/* NumPy's letters for a type; int32_t and int64_t have two, of which the system decides which is which. */
#define LETTERS(type)                                                                                                  \
    _Generic((type){0}, float: "f", double: "d", int8_t: "b", int16_t: "h", int32_t: "il", int64_t: "lq", uint8_t: "?", \
             uint32_t: "IL")

/* Return an array if it has so many dimensions of contiguous, aligned numbers of one of the types, of so many bytes, and may
   be written if that is wanted, else NULL. */
const array *array_of(const void *object, int dimensions, const char *letters, size_t bytes, int written);

#define DECLARE(type, name, dimensions, written)                                                                       \
    const array *name##_array = array_of(name##_object, dimensions, LETTERS(type), sizeof(type), written);             \
    if (name##_array == NULL)                                                                                          \
        return REFUSED;                                                                                                \
    type *restrict name = (type *)name##_array->data;                                                                  \
    (void)name
/* Declare `name`, the numbers of an array that a loop was given to read or to write, or refuse it. */
#define TAKE(type, name, dimensions) DECLARE(type, name, dimensions, 0)
#define FILL(type, name, dimensions) DECLARE(type, name, dimensions, 1)

#define LENGTH(name) ((int64_t)name##_array->shape[0])
#define WIDTH(name) ((int64_t)name##_array->shape[1])

/* Tell the processor which memory is needed soon. A hint: it never fails, whatever the address. */
#define FETCH(address) __builtin_prefetch((const void *)(address), 0, 3)
#define CACHE_LINE 64

/* Of a number and one that is not (NaN) the first, as Python's max and min. */
static inline double most(double a, double b) { return b > a ? b : a; }
static inline double least(double a, double b) { return b < a ? b : a; }

#endif
