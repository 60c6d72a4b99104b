/* Loops over the characters and objects of a PDF page. PDFium's functions, of which each gives one of them, are called by
   their addresses: from Python a page of thousands would take a hundred times as long. */
#include "arrays.h"

typedef unsigned int (*unicode_of)(void *page, int index);
typedef void *(*object_of)(void *page, int index);
typedef void *(*font_of)(void *object);
typedef double (*size_of)(void *page, int index);
typedef int (*matrix_of)(void *page, int index, float *matrix);
typedef int (*origin_of)(void *page, int index, double *x, double *y);
typedef int (*box_of)(void *page, int index, float *box);
typedef int (*type_of)(void *object);

/* Gap between two characters, in font sizes, above which they belong to different spans (cells or columns). */
static const double WIDE_GAP = 0.9;
enum { SPACE = 32, NBSP = 160, HYPHEN = 45, MARK = 2, SOFT = 173, LAM = 0x644 };
enum { INTEGERS = 7, FLOATS = 5 };

static int is_alef(uint32_t code) { return code == 0x622 || code == 0x623 || code == 0x625 || code == 0x627; }

/* Fill `codes` with the characters of a page of `count`, and for each span `integers` (s, 7: first and last + 1 of its codes,
   font, object, quarter turn, whether a space precedes it, whether its last character is a soft hyphen) and `floats` (s, 5:
   start, end, baseline, size, height above the baseline). Returns how many spans there are. */
EXPORT int64_t gather_characters(void *page, int64_t count, unicode_of get_unicode, object_of get_object,
                                 font_of get_font, size_of get_size, matrix_of get_matrix, origin_of get_origin,
                                 box_of get_box, void *codes_object, void *integers_object, void *floats_object) {
    FILL(uint32_t, codes, 1);
    FILL(int64_t, integers, 2);
    FILL(double, floats, 2);
    if (LENGTH(codes) < 2 * count + 2 || LENGTH(integers) <= count || LENGTH(floats) <= count ||
        WIDTH(integers) != INTEGERS || WIDTH(floats) != FLOATS)
        return REFUSED;
    float matrix[6] = {0}, box[4] = {0};
    double x = 0, y = 0, size = 0, start = 0, end = 0, base = 0;
    void *last_object = NULL, *font = NULL;
    int64_t spans = 0, written = 0, turn = 0;
    int spaced = 0, was_leftwards = 0, fresh = 1; /* fresh: the next character begins a span */
    for (int index = 0; index < count; index++) {
        uint32_t code = get_unicode(page, index);
        if (code == '\r' || code == '\n') {
            fresh = spaced = 1;
            continue;
        }
        if (code == 0 || code == '\t' || code == SPACE || code == NBSP || code == 0x3000 ||
            (code >= 0x2000 && code <= 0x200B)) {
            spaced = 1;
            continue;
        }
        void *object = get_object(page, index);
        if (object != last_object && object != NULL) {
            last_object = object;
            void *found = get_font(object);
            get_matrix(page, index, matrix);
            float a = matrix[0], b = matrix[1], c = matrix[2], d = matrix[3];
            int64_t turned = fabsf(a) >= fabsf(b) ? (a >= 0 ? 0 : 2) : (b > 0 ? 1 : 3);
            double scaled = get_size(page, index) * sqrtf(c * c + d * d);
            if (found != font || turned != turn || fabs(scaled - size) > 0.05 * size)
                fresh = 1;
            font = found;
            turn = turned;
            size = most(scaled, 0.1);
        }
        get_origin(page, index, &x, &y);
        get_box(page, index, box);
        double left = box[0], upper = box[1], right = box[2], lower = box[3];
        double first, final, line, top;
        if (turn == 0)
            first = left, final = right, line = y, top = upper - y;
        else if (turn == 1)
            first = lower, final = upper, line = -x, top = x - left;
        else if (turn == 2)
            first = -right, final = -left, line = -y, top = y - lower;
        else
            first = -upper, final = -lower, line = x, top = right - x;
        int leftwards = (code >= 0x590 && code < 0x900) || (code >= 0xFB1D && code < 0xFE00) ||
                        (code >= 0xFE70 && code < 0xFEFF);
        /* PDFium gives the characters of Hebrew and Arabic in the order in which they are read. */
        double gap = leftwards && was_leftwards ? start - final : first - end;
        if (fresh || fabs(line - base) > 0.1 * size || gap > WIDE_GAP * size || gap < -size) {
            int64_t *numbers = integers + INTEGERS * spans;
            double *places = floats + FLOATS * spans;
            numbers[0] = written;
            numbers[2] = (int64_t)(intptr_t)font;
            numbers[3] = (int64_t)(intptr_t)last_object;
            numbers[4] = turn;
            numbers[5] = spaced;
            places[0] = first;
            places[1] = final;
            places[2] = line;
            places[3] = size;
            places[4] = top;
            spans++;
            base = line;
        } else if (spaced)
            codes[written++] = SPACE;
        /* PDFium's mark stands for a hyphen at the end of a line, whether it belongs to the word or not. */
        codes[written++] = code == MARK || code == SOFT ? HYPHEN : code;
        if (code == LAM && written > 1 && is_alef(codes[written - 2]) && first == start && final == end) {
            codes[written - 1] = codes[written - 2]; /* a ligature, reversed */
            codes[written - 2] = LAM;
        }
        int64_t *numbers = integers + INTEGERS * (spans - 1);
        double *places = floats + FLOATS * (spans - 1);
        numbers[1] = written;
        numbers[6] = code == SOFT;
        places[0] = least(places[0], first);
        places[1] = most(places[1], final);
        start = first;
        end = final;
        was_leftwards = leftwards;
        spaced = fresh = 0;
    }
    return spans;
}

/* Fill `found` (m,) with the objects of the `wanted` type among the `count` of a page or form object, at most m, and return
   how many there are. */
EXPORT int64_t find_objects(void *container, int64_t count, int64_t wanted, object_of get_object, type_of get_type,
                            void *found_object) {
    FILL(int64_t, found, 1);
    int64_t used = 0;
    for (int index = 0; index < count && used < LENGTH(found); index++) {
        void *object = get_object(container, index);
        if (object != NULL && get_type(object) == wanted)
            found[used++] = (int64_t)(intptr_t)object;
    }
    return used;
}
