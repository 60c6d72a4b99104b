/* Products of vectors. A number depends on its own rows only, never on what is computed beside it, nor on the processor:
   sums are made in lanes, in one order everywhere. */
#include "arrays.h"

#define LANES 16

/* So many rows before its turn a row is fetched. Rows of a large matrix are far apart and rarely in the processor's
   caches: waiting for each in turn takes five times as long. */
static const int64_t AHEAD = 4, BYTES_AHEAD = 6, SCANNED_AHEAD = 20;

static double total_of(const double *lanes) {
    double four[4];
    for (int lane = 0; lane < 4; lane++)
        four[lane] = (lanes[lane] + lanes[lane + 4]) + (lanes[lane + 8] + lanes[lane + 12]);
    return (four[0] + four[2]) + (four[1] + four[3]);
}

#define DOT(name, type)                                                                                                \
    static double name(const type *restrict row, const double *restrict vector, int64_t width) {                       \
        double lanes[LANES] = {0};                                                                                     \
        int64_t k = 0;                                                                                                 \
        for (; k + LANES <= width; k += LANES)                                                                         \
            for (int lane = 0; lane < LANES; lane++)                                                                   \
                lanes[lane] += (double)row[k + lane] * vector[k + lane];                                               \
        for (int lane = 0; k < width; k++, lane++)                                                                     \
            lanes[lane] += (double)row[k] * vector[k];                                                                 \
        return total_of(lanes);                                                                                        \
    }
DOT(dot_of_singles, float)
DOT(dot_of_doubles, double)
DOT(dot_of_bytes, int8_t)

static void fetch_row(const char *matrix, int64_t row, int64_t bytes) {
    for (int64_t place = 0; place < bytes; place += CACHE_LINE)
        FETCH(matrix + row * bytes + place);
}

#define DOTS(name, type, dot)                                                                                          \
    EXPORT int64_t name(void *matrix_object, void *places_object, void *vector_object, double limit,                   \
                        void *out_object) {                                                                            \
        TAKE(const type, matrix, 2);                                                                                   \
        TAKE(const int64_t, places, 1);                                                                                \
        TAKE(const double, vector, 1);                                                                                 \
        FILL(double, out, 1);                                                                                          \
        int64_t count = LENGTH(places), rows = LENGTH(matrix), width = WIDTH(matrix);                                  \
        if (LENGTH(out) != count || (rows > 0 && LENGTH(vector) != width))                                             \
            return REFUSED;                                                                                            \
        for (int64_t number = 0; number < count; number++) {                                                           \
            if (number + AHEAD < count)                                                                                \
                fetch_row((const char *)matrix, places[number + AHEAD], width * (int64_t)sizeof(type));                \
            int64_t row = places[number];                                                                              \
            if (row < -1 || row >= rows)                                                                               \
                return 0;                                                                                              \
            double total = row < 0 ? NAN : dot(matrix + row * width, vector, width);                                   \
            out[number] = fabs(total) > limit ? copysign(limit, total) : total;                                        \
        }                                                                                                              \
        return 1;                                                                                                      \
    }
/* Fill `out` (p,) with the dot products of `vector` (d,) and the rows of `matrix` (n, d) at `places` (p,), NaN where a
   place is -1, and at most `limit` from 0. Returns 0 for a row that does not exist, else 1. */
DOTS(dots_of_singles, float, dot_of_singles)
DOTS(dots_of_doubles, double, dot_of_doubles)

/* Fill `out` (n,) with the highest cosine of `vector` (d,) and the rows `starts[i]` to `starts[i + 1]` of `codes` (s, d),
   leaving it unchanged where there are none. */
EXPORT int64_t best_codes(void *codes_object, void *starts_object, void *vector_object, void *out_object) {
    TAKE(const int8_t, codes, 2);
    TAKE(const int64_t, starts, 1);
    TAKE(const double, vector, 1);
    FILL(double, out, 1);
    int64_t count = LENGTH(out), width = WIDTH(codes);
    if (LENGTH(starts) != count + 1 || (LENGTH(codes) > 0 && LENGTH(vector) != width))
        return REFUSED;
    for (int64_t number = 0; number < count; number++) {
        if (starts[number] < 0 || starts[number + 1] > LENGTH(codes))
            return REFUSED;
        int any = 0;
        for (int64_t row = starts[number]; row < starts[number + 1]; row++) {
            const int8_t *code = codes + row * width;
            int32_t length = 0;
            for (int64_t k = 0; k < width; k++)
                length += (int32_t)code[k] * (int32_t)code[k];
            if (length == 0)
                continue; /* of no direction */
            double cosine = dot_of_bytes(code, vector, width) / sqrt((double)length);
            if (!any || cosine > out[number])
                out[number] = cosine;
            any = 1;
        }
    }
    return 1;
}

/* Add four rows of k numbers each, times `matrix` (k, m), to four of m numbers each. What is read of the matrix is used for
   four rows, and sums stay in registers; each is made from the first to the last of the k numbers. */
static void add_four(const double *restrict a, int64_t inner, const double *restrict matrix, int64_t width,
                     double *restrict to_a, double *restrict to_b, double *restrict to_c, double *restrict to_d) {
    const double *b = a + inner, *c = b + inner, *d = c + inner;
    int64_t k = 0;
    for (; k + 4 <= inner; k += 4) {
        const double *m0 = matrix + k * width, *m1 = m0 + width, *m2 = m1 + width, *m3 = m2 + width;
        for (int64_t column = 0; column < width; column++) {
            double n0 = m0[column], n1 = m1[column], n2 = m2[column], n3 = m3[column];
            to_a[column] = (((to_a[column] + a[k] * n0) + a[k + 1] * n1) + a[k + 2] * n2) + a[k + 3] * n3;
            to_b[column] = (((to_b[column] + b[k] * n0) + b[k + 1] * n1) + b[k + 2] * n2) + b[k + 3] * n3;
            to_c[column] = (((to_c[column] + c[k] * n0) + c[k + 1] * n1) + c[k + 2] * n2) + c[k + 3] * n3;
            to_d[column] = (((to_d[column] + d[k] * n0) + d[k + 1] * n1) + d[k + 2] * n2) + d[k + 3] * n3;
        }
    }
    for (; k < inner; k++)
        for (int64_t column = 0; column < width; column++) {
            double number = matrix[k * width + column];
            to_a[column] += a[k] * number;
            to_b[column] += b[k] * number;
            to_c[column] += c[k] * number;
            to_d[column] += d[k] * number;
        }
}

/* Add `rows` (n, k) times `matrix` (k, m) to `out` (n, m). */
EXPORT int64_t add_product(void *rows_object, void *matrix_object, void *out_object) {
    TAKE(const double, rows, 2);
    TAKE(const double, matrix, 2);
    FILL(double, out, 2);
    int64_t count = LENGTH(rows), inner = WIDTH(rows), width = WIDTH(matrix), row = 0;
    if (LENGTH(matrix) != inner || LENGTH(out) != count || WIDTH(out) != width)
        return REFUSED;
    for (; row + 4 <= count; row += 4) {
        double *to = out + row * width;
        add_four(rows + row * inner, inner, matrix, width, to, to + width, to + 2 * width, to + 3 * width);
    }
    for (; row < count; row++)
        for (int64_t k = 0; k < inner; k++)
            for (int64_t column = 0; column < width; column++)
                out[row * width + column] += rows[row * inner + k] * matrix[k * width + column];
    return 1;
}

/* Fill `out` (s,) with the cosines of a unit vector `question` (d,) with the mean vector of each step.

   The mean of a step is taken over the vector of its node, `nodes` (s, d), of its relation, `types[type_of]` (t, d), and
   of the relations walked before, whose sum is `walked` (d,). Relations without a vector (NaN) are skipped. The result is
   NaN for a node without a vector and 0 for a mean of length 0. The sum has the same cosine as the mean. */
EXPORT int64_t mean_cosines(void *nodes_object, void *types_object, void *type_of_object, void *walked_object,
                            void *question_object, void *out_object) {
    TAKE(const float, nodes, 2);
    TAKE(const float, types, 2);
    TAKE(const int64_t, type_of, 1);
    TAKE(const double, walked, 1);
    TAKE(const double, question, 1);
    FILL(double, out, 1);
    int64_t steps = LENGTH(out), width = LENGTH(question);
    if (LENGTH(nodes) != steps || LENGTH(type_of) != steps || LENGTH(walked) != width)
        return REFUSED;
    if (steps > 0 && (WIDTH(nodes) != width || WIDTH(types) != width))
        return REFUSED;
    for (int64_t step = 0; step < steps; step++) {
        if (type_of[step] < 0 || type_of[step] >= LENGTH(types))
            return REFUSED;
        const float *node = nodes + step * width, *type = types + type_of[step] * width;
        if (isnan(node[0])) {
            out[step] = NAN;
            continue;
        }
        double counts = isnan(type[0]) ? 0.0 : 1.0;
        double along[LANES] = {0}, length[LANES] = {0};
        for (int64_t k = 0; k < width; k += LANES)
            for (int lane = 0; lane < LANES && k + lane < width; lane++) {
                double relation = counts > 0 ? (double)type[k + lane] : 0.0;
                double number = (double)node[k + lane] + walked[k + lane] + relation;
                along[lane] += number * question[k + lane];
                length[lane] += number * number;
            }
        double squared = total_of(length);
        out[step] = squared > 0 ? total_of(along) / sqrt(squared) : 0.0;
    }
    return 1;
}

/* Fill `out` (n,) with the numbers (n,) rounded to six significant digits, as formatting and parsing them would. Set
   `unsure` (n,) where that is not certain: close to halfway between two results, close to a power of ten, or of unusual
   magnitude. Returns whether any is unsure. */
EXPORT int64_t round_digits(void *numbers_object, void *out_object, void *unsure_object) {
    TAKE(const double, numbers, 1);
    FILL(double, out, 1);
    FILL(uint8_t, unsure, 1);
    if (LENGTH(out) != LENGTH(numbers) || LENGTH(unsure) != LENGTH(numbers))
        return REFUSED;
    int64_t some = 0;
    for (int64_t place = 0; place < LENGTH(numbers); place++) {
        double number = numbers[place], size = fabs(number);
        out[place] = number;
        unsure[place] = 0;
        if (number == 0 || isnan(number))
            continue;
        unsure[place] = !(size > 1e-12 && size < 1e6);
        if (!unsure[place]) {
            double unit = pow(10.0, 5 - floor(log10(size)));
            double scaled = number * unit, whole = rint(scaled);
            out[place] = whole / unit;
            double digits = fabs(whole);
            unsure[place] = fabs(fabs(scaled - whole) - 0.5) < 1e-6 || !(digits > 100000 && digits < 999999);
        }
        some |= unsure[place];
    }
    return some;
}

/* Vectors as whole numbers of a byte: `codes` (n, d) times `scales` (n,), and the lengths of the `errors` (n,) of some
   `rows` (n,) of `values` (v, d). */
EXPORT int64_t quantise(void *values_object, void *rows_object, void *codes_object, void *scales_object,
                        void *errors_object) {
    TAKE(const float, values, 2);
    TAKE(const int64_t, rows, 1);
    FILL(int8_t, codes, 2);
    FILL(float, scales, 1);
    FILL(float, errors, 1);
    int64_t count = LENGTH(rows), width = WIDTH(values);
    if (LENGTH(codes) != count || LENGTH(scales) != count || LENGTH(errors) != count || WIDTH(codes) != width)
        return REFUSED;
    const float finest = 127, tiny = 1.17549435e-38f;
    for (int64_t place = 0; place < count; place++) {
        if (rows[place] < 0 || rows[place] >= LENGTH(values))
            return REFUSED;
        const float *value = values + rows[place] * width;
        int8_t *code = codes + place * width;
        float largest = 0;
        for (int64_t k = 0; k < width; k++)
            largest = fabsf(value[k]) > largest ? fabsf(value[k]) : largest;
        float scale = largest / finest, times = 1.0f / (scale > tiny ? scale : tiny);
        scales[place] = scale;
        float lanes[LANES] = {0};
        for (int64_t k = 0; k < width; k += LANES)
            for (int lane = 0; lane < LANES && k + lane < width; lane++) {
                float whole = rintf(value[k + lane] * times);
                whole = whole > finest ? finest : whole < -finest ? -finest : whole;
                code[k + lane] = (int8_t)whole;
                float off = value[k + lane] - scale * whole;
                lanes[lane] += off * off;
            }
        float error = 0;
        for (int lane = 0; lane < LANES; lane++)
            error += lanes[lane];
        errors[place] = sqrtf(error);
    }
    return 1;
}

static int32_t dot_of_whole(const int8_t *restrict code, const int16_t *restrict question, int64_t width) {
    int32_t total = 0;
    for (int64_t k = 0; k < width; k++)
        total += (int32_t)(int16_t)code[k] * (int32_t)question[k];
    return total;
}

/* Fill `out` (n,) with scalar products of `codes` (n, d) and `question` (d,), both times their scales. A processor reads
   ahead to the end of a page of memory alone, which is ten vectors: the loop says what comes next. */
EXPORT int64_t scan(void *codes_object, void *scales_object, void *question_object, double scale, void *out_object) {
    TAKE(const int8_t, codes, 2);
    TAKE(const float, scales, 1);
    TAKE(const int16_t, question, 1);
    FILL(float, out, 1);
    int64_t count = LENGTH(codes), width = WIDTH(codes);
    if (LENGTH(scales) != count || LENGTH(out) != count || LENGTH(question) != width)
        return REFUSED;
    for (int64_t row = 0; row < count; row++) {
        if (row + SCANNED_AHEAD < count)
            fetch_row((const char *)codes, row + SCANNED_AHEAD, width);
        out[row] = (float)(dot_of_whole(codes + row * width, question, width) * (double)scales[row] * scale);
    }
    return 1;
}

/* How far a cosine of two coarse vectors may be off, see CoarseVectors.nearest; a part of that for single precision. */
static double error_of(float error, double length, double missing) {
    return error * length + (1 + (double)error) * missing + 1e-6;
}

/* Fill `lowest` and `highest` (m,) with bounds of the cosines of the vectors at `places` (m,). */
EXPORT int64_t bounds(void *codes_object, void *scales_object, void *errors_object, void *places_object,
                      void *question_object, double scale, double length, double missing, void *lowest_object,
                      void *highest_object) {
    TAKE(const int8_t, codes, 2);
    TAKE(const float, scales, 1);
    TAKE(const float, errors, 1);
    TAKE(const int64_t, places, 1);
    TAKE(const int16_t, question, 1);
    FILL(float, lowest, 1);
    FILL(float, highest, 1);
    int64_t count = LENGTH(places), rows = LENGTH(codes), width = WIDTH(codes);
    if (LENGTH(lowest) != count || LENGTH(highest) != count || LENGTH(question) != width || LENGTH(scales) != rows ||
        LENGTH(errors) != rows)
        return REFUSED;
    for (int64_t number = 0; number < count; number++) {
        if (number + BYTES_AHEAD < count)
            fetch_row((const char *)codes, places[number + BYTES_AHEAD], width);
        int64_t row = places[number];
        if (row < 0 || row >= rows)
            return REFUSED;
        float score = (float)(dot_of_whole(codes + row * width, question, width) * (double)scales[row] * scale);
        float off = (float)error_of(errors[row], length, missing);
        lowest[number] = score - off;
        highest[number] = score + off;
    }
    return 1;
}

#define BUCKETS 8192 /* of cosines, to find the k-th highest */

/* Fill `highest` (n,) with the highest cosines that the `scores` (n,) leave room for, and `reached` (1,) with one that at
   least `k` of them reach for certain, of those that `among` (n,) has where `some` is not 0. It is up to a bucket's width
   too low: counting takes one pass, sorting several. */
EXPORT int64_t bound(void *scores_object, void *errors_object, double length, double missing, int64_t some,
                     void *among_object, int64_t k, void *highest_object, void *reached_object) {
    TAKE(const float, scores, 1);
    TAKE(const float, errors, 1);
    TAKE(const uint8_t, among, 1);
    FILL(float, highest, 1);
    FILL(double, reached, 1);
    int64_t count = LENGTH(scores), counts[BUCKETS] = {0}, found = 0;
    if (LENGTH(errors) != count || LENGTH(highest) != count || (some && LENGTH(among) != count) || LENGTH(reached) != 1)
        return REFUSED;
    for (int64_t row = 0; row < count; row++) {
        if (some && !among[row]) {
            highest[row] = -INFINITY;
            continue;
        }
        double off = error_of(errors[row], length, missing);
        highest[row] = (float)(scores[row] + off);
        counts[(int64_t)most(0, least((scores[row] - off + 1) * (BUCKETS / 2), BUCKETS - 1))]++;
    }
    reached[0] = -2;
    for (int64_t bucket = BUCKETS - 1; bucket > 0; bucket--) {
        found += counts[bucket];
        if (found >= k) {
            reached[0] = (double)bucket / (BUCKETS / 2) - 1.0 - 1e-6;
            break;
        }
    }
    return 1;
}
