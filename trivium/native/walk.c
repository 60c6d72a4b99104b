/* Personalised PageRank: by pushing on a large sparse graph, by iterating on a small dense one. */
#include "arrays.h"

/* How many nodes further back in the queue their own rows, their lists of neighbours, and the rows of these neighbours are
   fetched in advance. Each needs what the one before has fetched. */
static const int64_t FAR = 8, NEAR = 5, SOON = 2;
static const int64_t MOST_FETCHED = 16; /* neighbours: caches hold few lists of popular nodes */

/* What a step from a chunk to an entity counts; see `push`. */
static inline double step_to(int64_t entity, int64_t names, const int64_t *indptr, const int64_t *own_chunks,
                             double name_weight) {
    if (entity < names || own_chunks[2 * entity] < own_chunks[2 * entity + 1])
        return 1;
    return name_weight / sqrt((double)(indptr[entity + 1] - indptr[entity]));
}

/* Push from `seeds` (s,) with masses (s,) over the graph of n nodes `indptr` (n + 1,), `indices`; see trivium.retrievers.push.
   `nodes` (at least n, 2) are residuals and masses, zero before and after. Fills `reached` and `masses` (at least n + 1) with
   the nodes with mass, in the order in which they were reached, and their masses, and `lost` (1,) with the mass lost at nodes
   without neighbours. Returns how many nodes those are. `queue` (at least n + 1) is room.
   Nodes from `names` on that have no chunks of their own are names: a step to one counts `name_weight` divided by the root
   of its neighbours; `names` is n where all links are alike.

   A node waits in the queue exactly when its residual exceeds its limit. Whether a neighbour is new, or has to wait from now
   on, is added up instead of branched on: both are as good as random, and half of the time would go into wrong guesses of the
   processor. The rest of the time it waits for memory, so nodes further back in the queue are fetched in advance. */
EXPORT int64_t push(void *indptr_object, void *indices_object, void *own_chunks_object, void *seeds_object,
                    void *seeds_mass_object, void *nodes_object, void *queue_object, void *reached_object,
                    void *masses_object, void *lost_object, int64_t names, double damping, double eps,
                    double own_page_weight, double name_weight) {
    TAKE(const int64_t, indptr, 1);
    TAKE(const int32_t, indices, 1);
    TAKE(const int64_t, own_chunks, 2);
    TAKE(const int64_t, seeds, 1);
    TAKE(const double, seeds_mass, 1);
    FILL(double, nodes, 2);
    FILL(int32_t, queue, 1);
    FILL(int32_t, reached, 1);
    FILL(double, masses, 1);
    FILL(double, lost, 1);
    int64_t count_of_nodes = LENGTH(indptr) - 1, size = LENGTH(queue);
    if (LENGTH(own_chunks) != count_of_nodes || LENGTH(seeds) != LENGTH(seeds_mass) || LENGTH(nodes) < count_of_nodes ||
        size <= count_of_nodes || LENGTH(reached) <= count_of_nodes || LENGTH(masses) <= count_of_nodes ||
        LENGTH(lost) != 1 || indptr[count_of_nodes] > LENGTH(indices))
        return REFUSED;
    for (int64_t place = 0; place < LENGTH(seeds); place++)
        if (seeds[place] < 0 || seeds[place] >= count_of_nodes)
            return REFUSED;
    int64_t head = 0, count = 0, known = 0; /* the queue is a ring: a node is in it at most once */
    for (int64_t place = 0; place < LENGTH(seeds); place++) {
        int64_t node = seeds[place];
        if (seeds_mass[place] > 0) {
            nodes[2 * node] = seeds_mass[place];
            reached[known++] = (int32_t)node;
        }
        if (seeds_mass[place] > eps * (double)(indptr[node + 1] - indptr[node]))
            queue[count++] = (int32_t)node;
    }
    lost[0] = 0;
    while (count > 0) {
        int64_t node = queue[head];
        head = head + 1 < size ? head + 1 : 0;
        count--;
        if (count > FAR && head + FAR < size) {
            int64_t far = queue[head + FAR], near = queue[head + NEAR], soon = queue[head + SOON];
            FETCH(indptr + far);
            FETCH(own_chunks + 2 * far);
            FETCH(indices + indptr[near]);
            int64_t end = indptr[soon + 1];
            for (int64_t position = indptr[soon]; position < end && position < indptr[soon] + MOST_FETCHED; position++) {
                FETCH(nodes + 2 * (int64_t)indices[position]);
                FETCH(indptr + indices[position]);
            }
        }
        int64_t first = indptr[node], last = indptr[node + 1];
        double amount = nodes[2 * node];
        nodes[2 * node] = 0;
        nodes[2 * node + 1] += (1 - damping) * amount;
        if (first == last) {
            lost[0] += damping * amount;
            continue;
        }
        int64_t start = own_chunks[2 * node], end = own_chunks[2 * node + 1];
        int has_names = names < count_of_nodes && node < names;
        double weight = (double)(last - first);
        if (has_names)
            for (int64_t position = first; position < last; position++)
                weight += step_to(indices[position], names, indptr, own_chunks, name_weight) - 1;
        if (end > start)
            for (int64_t position = first; position < last; position++)
                if (start <= indices[position] && indices[position] < end)
                    weight += own_page_weight - 1;
        double share = damping * amount / weight;
        if (share == 0)
            continue;
        int64_t tail = head + count < size ? head + count : head + count - size;
        for (int64_t position = first; position < last; position++) {
            int64_t neighbour = indices[position];
            double *own = nodes + 2 * neighbour, before = own[0];
            int is_own = (start <= neighbour) & (neighbour < end);
            double part = is_own ? share * own_page_weight : share;
            if (has_names)
                part *= step_to(neighbour, names, indptr, own_chunks, name_weight);
            double after = before + part;
            own[0] = after;
            reached[known] = (int32_t)neighbour;
            known += (before == 0) & (own[1] == 0);
            double limit = eps * (double)(indptr[neighbour + 1] - indptr[neighbour]);
            queue[tail] = (int32_t)neighbour;
            int waits = (before <= limit) & (after > limit);
            count += waits;
            tail += waits;
            tail = tail < size ? tail : 0;
        }
    }
    int64_t some = 0;
    for (int64_t place = 0; place < known; place++) {
        int64_t node = reached[place];
        double mass = nodes[2 * node + 1];
        reached[some] = (int32_t)node;
        masses[some] = mass;
        some += mass > 0;
        nodes[2 * node] = nodes[2 * node + 1] = 0;
    }
    return some;
}

/* Normalise `start` (n,) in place and fill `step` (n, n) with the transition matrix P: the rows of `weights` (n, n) normalised
   to 1, and the seeds for nodes without edges. Returns 0 where a value is negative or not finite. */
EXPORT int64_t transitions(void *weights_object, void *start_object, void *step_object) {
    TAKE(const double, weights, 2);
    FILL(double, start, 1);
    FILL(double, step, 2);
    int64_t size = LENGTH(start);
    if (LENGTH(weights) != size || WIDTH(weights) != size || LENGTH(step) != size || WIDTH(step) != size)
        return REFUSED;
    double total = 0;
    int wrong = 0;
    for (int64_t node = 0; node < size; node++) {
        wrong |= start[node] < 0;
        total += start[node];
    }
    if (wrong || !isfinite(total))
        return 0;
    for (int64_t node = 0; node < size; node++)
        start[node] = total > 0 ? start[node] / total : 1.0 / (double)size;
    for (int64_t node = 0; node < size; node++) {
        const double *from = weights + node * size;
        double degree = 0;
        for (int64_t other = 0; other < size; other++) {
            degree += from[other];
            wrong |= from[other] < 0;
        }
        if (wrong || !isfinite(degree))
            return 0;
        for (int64_t other = 0; other < size; other++)
            step[node * size + other] = degree > 0 ? from[other] / degree : start[other];
    }
    return 1;
}

/* Iterate p <- (1 - d) s + d P^T p from `start` (n,), which becomes the result; `step` (n, n) is P, and overwritten. The
   remaining L1 error is at most d / (1 - d) times the last change. */
EXPORT int64_t iterate(void *step_object, void *start_object, double damping, double tolerance) {
    FILL(double, step, 2);
    FILL(double, start, 1);
    int64_t size = LENGTH(start);
    double *fresh = malloc(2 * sizeof(double) * ((size_t)size + 1)), *update = fresh + size;
    if (fresh == NULL || LENGTH(step) != size || WIDTH(step) != size) {
        free(fresh);
        return REFUSED;
    }
    for (int64_t node = 0; node < size; node++)
        fresh[node] = (1 - damping) * start[node];
    for (int64_t place = 0; place < size * size; place++)
        step[place] *= damping;
    for (double change = INFINITY; change * damping > tolerance * (1 - damping);) {
        memcpy(update, fresh, sizeof(double) * (size_t)size);
        for (int64_t node = 0; node < size; node++)
            for (int64_t other = 0; other < size; other++)
                update[other] += start[node] * step[node * size + other];
        change = 0;
        for (int64_t node = 0; node < size; node++) {
            change += fabs(update[node] - start[node]);
            start[node] = update[node];
        }
    }
    free(fresh);
    return 1;
}
