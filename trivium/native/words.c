/* Where the words of a question occur in chunks, and what candidates that link to each other have together. */
#include "arrays.h"

/* Add to `text` and `headings` (n, t) how often `terms` (t,) occur in n chunks. `words[starts[i]]` and so on are the terms of
   chunk i, first those of its headings, then those of its text; `lengths` (n, 2) are how many text and headings have.
   Returns how many words of texts are one of the terms, -1 where there are not so many words. */
EXPORT int64_t count_terms(void *words_object, void *starts_object, void *lengths_object, void *terms_object,
                           void *text_object, void *headings_object) {
    TAKE(const int32_t, words, 1);
    TAKE(const int64_t, starts, 1);
    TAKE(const int64_t, lengths, 2);
    TAKE(const int64_t, terms, 1);
    FILL(double, text, 2);
    FILL(double, headings, 2);
    int64_t chunks = LENGTH(starts), asked = LENGTH(terms), found = 0;
    if (LENGTH(lengths) != chunks || WIDTH(lengths) != 2 || LENGTH(text) != chunks || LENGTH(headings) != chunks ||
        WIDTH(text) != asked || WIDTH(headings) != asked)
        return REFUSED;
    for (int64_t chunk = 0; chunk < chunks; chunk++) {
        int64_t in_text = lengths[2 * chunk], in_headings = lengths[2 * chunk + 1];
        int64_t room = LENGTH(words) - starts[chunk];
        if (starts[chunk] < 0 || in_text < 0 || in_headings < 0 || in_headings > room || in_text > room - in_headings)
            return -1;
        for (int64_t place = 0; place < in_headings + in_text; place++) {
            int64_t word = words[starts[chunk] + place], is_term = 0;
            for (int64_t column = 0; column < asked; column++)
                if (terms[column] == word) {
                    (place < in_headings ? headings : text)[chunk * asked + column] += 1;
                    is_term = place >= in_headings;
                }
            found += is_term;
        }
    }
    return found;
}

/* Fill `places` (o, 3) with every occurrence in a text: chunk, term (the first of equal ones), and how many words stand before
   it. The arguments are those of count_terms, which says how many there are. */
EXPORT int64_t locate_terms(void *words_object, void *starts_object, void *lengths_object, void *terms_object,
                            void *places_object) {
    TAKE(const int32_t, words, 1);
    TAKE(const int64_t, starts, 1);
    TAKE(const int64_t, lengths, 2);
    TAKE(const int64_t, terms, 1);
    FILL(int64_t, places, 2);
    int64_t found = 0;
    if (LENGTH(lengths) != LENGTH(starts) || WIDTH(lengths) != 2 || WIDTH(places) != 3)
        return REFUSED;
    for (int64_t chunk = 0; chunk < LENGTH(starts); chunk++) {
        const int32_t *text = words + starts[chunk] + lengths[2 * chunk + 1];
        for (int64_t place = 0; place < lengths[2 * chunk]; place++)
            for (int64_t column = 0; column < LENGTH(terms); column++)
                if (terms[column] == text[place]) {
                    if (found == LENGTH(places))
                        return REFUSED;
                    places[3 * found] = chunk;
                    places[3 * found + 1] = column;
                    places[3 * found + 2] = place;
                    found++;
                    break;
                }
    }
    return found;
}

/* Add to `found` (t,) in how many of n chunks each of t terms occurs. `words[starts[i]]` and so on are the terms of chunk i,
   `sizes` (n,) how many it has. */
EXPORT int64_t count_chunks(void *words_object, void *starts_object, void *sizes_object, void *found_object) {
    TAKE(const int32_t, words, 1);
    TAKE(const int64_t, starts, 1);
    TAKE(const int64_t, sizes, 1);
    FILL(int64_t, found, 1);
    if (LENGTH(sizes) != LENGTH(starts))
        return REFUSED;
    for (int64_t chunk = 0; chunk < LENGTH(starts); chunk++)
        if (starts[chunk] < 0 || starts[chunk] > LENGTH(words) || sizes[chunk] > LENGTH(words) - starts[chunk])
            return REFUSED;
    int64_t *last = calloc((size_t)LENGTH(found) + 1, sizeof(int64_t)); /* the chunk that a term was last seen in, and 1 */
    if (last == NULL)
        return REFUSED;
    for (int64_t chunk = 0; chunk < LENGTH(starts); chunk++)
        for (int64_t place = starts[chunk]; place < starts[chunk] + sizes[chunk]; place++) {
            int32_t term = words[place];
            if (term < 0 || term >= LENGTH(found)) {
                free(last);
                return REFUSED;
            }
            if (last[term] != chunk + 1) {
                last[term] = chunk + 1;
                found[term]++;
            }
        }
    free(last);
    return 1;
}

static int are_places(const int64_t *places, int64_t count, int64_t chunks, int64_t terms) {
    for (int64_t place = 0; place < count; place++)
        if (places[3 * place] < 0 || places[3 * place] >= chunks || places[3 * place + 1] < 0 ||
            places[3 * place + 1] >= terms)
            return 0;
    return 1;
}

/* Fill `best` (w, n), for each width (w,) and chunk, with the largest sum of shares of distinct terms within a window of so
   many words, which is at least 1. `shares` (t,) are the terms' shares; `places` (o, 3) holds chunk, term and position of
   every occurrence, sorted. */
EXPORT int64_t windows(void *places_object, void *shares_object, void *widths_object, void *best_object) {
    TAKE(const int64_t, places, 2);
    TAKE(const double, shares, 1);
    TAKE(const int64_t, widths, 1);
    FILL(double, best, 2);
    int64_t count = LENGTH(places), chunks = WIDTH(best);
    if (WIDTH(places) != 3 || LENGTH(best) != LENGTH(widths) || !are_places(places, count, chunks, LENGTH(shares)))
        return REFUSED;
    for (int64_t number = 0; number < LENGTH(widths); number++)
        if (widths[number] < 1)
            return REFUSED;
    int64_t *inside = malloc(sizeof(int64_t) * ((size_t)LENGTH(shares) + 1));
    if (inside == NULL)
        return REFUSED;
    for (int64_t number = 0; number < LENGTH(widths); number++) {
        memset(inside, 0, sizeof(int64_t) * (size_t)LENGTH(shares));
        int64_t first = 0;
        double sum = 0;
        for (int64_t last = 0; last < count; last++) {
            int64_t chunk = places[3 * last], term = places[3 * last + 1], position = places[3 * last + 2];
            while (places[3 * first] != chunk || position - places[3 * first + 2] >= widths[number]) {
                int64_t gone = places[3 * first + 1];
                if (--inside[gone] == 0)
                    sum -= shares[gone];
                first++;
            }
            if (++inside[term] == 1)
                sum += shares[term];
            double *highest = best + number * chunks + chunk;
            *highest = most(*highest, sum);
        }
    }
    free(inside);
    return 1;
}

/* Fill `found` (n, 4) with four numbers of each chunk: the share of adjacent pairs of the question's terms that occur within
   `near` words of each other, the share that occurs exactly as in the question, the largest sum of shares in one phrase, and
   the position of the first occurrence, -1 if there is none.

   `shares` (t,) are those of the question's terms in its order; `steps` (t,) is the distance in words of each term from the
   one before in the question. A pair weighs as much as its two terms. `places` as in windows; `run` (o,) is room. */
EXPORT int64_t phrases(void *places_object, void *shares_object, void *steps_object, int64_t near, void *run_object,
                       void *found_object) {
    TAKE(const int64_t, places, 2);
    TAKE(const double, shares, 1);
    TAKE(const int64_t, steps, 1);
    FILL(double, run, 1);
    FILL(double, found, 2);
    int64_t terms = LENGTH(shares), count = LENGTH(places);
    if (WIDTH(places) != 3 || LENGTH(steps) != terms || LENGTH(run) != count || WIDTH(found) != 4 ||
        !are_places(places, count, LENGTH(found), terms))
        return REFUSED;
    char *is_near = malloc(2 * (size_t)terms + 1), *is_same = is_near + terms;
    if (is_near == NULL)
        return REFUSED;
    double total = 0;
    for (int64_t term = 1; term < terms; term++)
        total += shares[term - 1] + shares[term];
    for (int64_t chunk = 0; chunk < LENGTH(found); chunk++)
        found[4 * chunk + 3] = -1;
    for (int64_t start = 0, end = 0; start < count; start = end) {
        double *of_chunk = found + 4 * places[3 * start];
        of_chunk[3] = (double)places[3 * start + 2];
        while (end < count && places[3 * end] == places[3 * start])
            end++;
        memset(is_near, 0, 2 * (size_t)terms);
        for (int64_t own = start; own < end; own++) {
            int64_t term = places[3 * own + 1], position = places[3 * own + 2];
            run[own] = shares[term];
            for (int64_t other = start; term > 0 && other < end; other++) {
                if (places[3 * other + 1] != term - 1)
                    continue;
                int64_t apart = position - places[3 * other + 2];
                if (llabs(apart) <= near)
                    is_near[term] = 1;
                if (other < own && apart == steps[term]) {
                    is_same[term] = 1;
                    run[own] = run[other] + shares[term];
                }
            }
            of_chunk[2] = most(of_chunk[2], run[own]);
        }
        for (int64_t term = 1; total > 0 && term < terms; term++) {
            double weight = (shares[term - 1] + shares[term]) / total;
            of_chunk[0] += weight * is_near[term];
            of_chunk[1] += weight * is_same[term];
        }
    }
    free(is_near);
    return 1;
}

/* Fill `best` (2 v + 3, n), for each of n candidates, with the best values of those it forms a pair with, NaN where there are
   none, and `links` (n,) with the number of its pairs with others.

   Pair p consists of the candidates `citing[p]` and `there[p]` and has the value `together[p]`; `values` (n, v) are those of
   single candidates. Of `best`, two rows are for each value, from those that cite a candidate and from those that it cites,
   and three for the best of `together` among the former, the latter, and all. */
EXPORT int64_t best_of_pairs(void *citing_object, void *there_object, void *values_object, void *together_object,
                             void *best_object, void *links_object) {
    TAKE(const int64_t, citing, 1);
    TAKE(const int64_t, there, 1);
    TAKE(const double, values, 2);
    TAKE(const double, together, 1);
    FILL(double, best, 2);
    FILL(double, links, 1);
    int64_t n = LENGTH(values), count = WIDTH(values), rows = 2 * count + 3;
    if (LENGTH(there) != LENGTH(citing) || LENGTH(together) != LENGTH(citing) || LENGTH(best) != rows ||
        WIDTH(best) != n || LENGTH(links) != n)
        return REFUSED;
    for (int64_t place = 0; place < rows * n; place++)
        best[place] = -INFINITY;
    for (int64_t pair = 0; pair < LENGTH(citing); pair++) {
        int64_t source = citing[pair], target = there[pair];
        if (source < 0 || source >= n || target < 0 || target >= n)
            return REFUSED;
        for (int64_t value = 0; value < count; value++) {
            double *cited = best + 2 * value * n + target, *cites = best + (2 * value + 1) * n + source;
            *cited = most(*cited, values[source * count + value]);
            *cites = most(*cites, values[target * count + value]);
        }
        double *former = best + 2 * count * n, *latter = former + n, *all = latter + n, both = together[pair];
        former[target] = most(former[target], both);
        latter[source] = most(latter[source], both);
        all[target] = most(all[target], both);
        all[source] = most(all[source], both);
        if (source != target) {
            links[source]++;
            links[target]++;
        }
    }
    for (int64_t place = 0; place < rows * n; place++)
        if (best[place] == -INFINITY)
            best[place] = NAN;
    return 1;
}
