/* A target in C, for covassay. It reads requests and writes replies, one line of JSON each.

   cc -O2 -o release release.c -lm
   covassay audit exec:./release --mechanism entrywise-laplace --epsilon 1

   It releases the second moment of rows in the unit ball, with Laplace noise of scale 2d/(n epsilon) on every entry.
   Not for production: the noise is floating point. */

#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state; /* of the generator splitmix64; every draw starts it from its own seed */

static double uniform(void) { /* in (0, 1) */
    uint64_t z = (state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return ((z ^ (z >> 31)) >> 11) * 0x1p-53 + 0x1p-54;
}

static double laplace(double scale) { return scale * (log(uniform()) - log(uniform())); }

static const char *value_of(const char *line, const char *key) { /* what stands after "key": */
    char quoted[40];
    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    const char *at = strstr(line, quoted);
    return at ? at + strlen(quoted) + strspn(at + strlen(quoted), " ") : NULL;
}

/* Reads [[…], …] into x, which has room for every number on the line. Returns 0 unless it is a table. */
static int read_table(const char *at, double *x, size_t *n, size_t *d) {
    size_t total = 0;
    *n = 0;
    for (at++; *at == '['; at += strspn(at, ", ")) {
        char *end;
        for (at++; *at != ']'; at = end + strspn(end, ", ")) x[total++] = strtod(at, &end);
        at++;
        ++*n;
    }
    if (*n == 0 || total == 0 || total % *n) return 0;
    *d = total / *n;
    return 1;
}

static void print_draw(const double *moment, size_t d, double scale, uint64_t seed) {
    state = seed;
    for (size_t i = 0; i < d * d; i++)
        printf("%s%.17g%s", i % d ? ", " : i ? ", [" : "[[", moment[i] + laplace(scale), (i + 1) % d ? "" : "]");
    printf("]");
}

int main(void) {
    char *line = NULL, *end;
    size_t room = 0, n, d;
    while (getline(&line, &room, stdin) > 0) {
        const char *table = value_of(line, "x"), *budget = value_of(line, "epsilon");
        const char *one = value_of(line, "seed"), *many = value_of(line, "seeds");
        double *x = malloc(strlen(line) * sizeof *x), *moment = NULL;
        double epsilon = budget ? strtod(budget, NULL) : 0;
        if (!table || !read_table(table, x, &n, &d) || !(epsilon > 0)) {
            printf("{\"error\": \"no table of numbers, or no budget\"}\n");
        } else {
            moment = calloc(d * d, sizeof *moment);
            for (size_t k = 0; k < n; k++) {
                double *row = x + k * d, squares = 0;
                for (size_t i = 0; i < d; i++) squares += row[i] * row[i];
                double shrink = squares > 1 ? 1 / sqrt(squares) : 1; /* a longer row gets length 1 */
                for (size_t i = 0; i < d; i++) row[i] *= shrink;
                for (size_t i = 0; i < d * d; i++) moment[i] += row[i / d] * row[i % d] / n;
            }
            double scale = 2.0 * d / (n * epsilon);
            if (many) {
                printf("{\"outputs\": [");
                for (many++; *many != ']'; many = end + strspn(end, " ")) {
                    if (*many == ',') printf(", "), many++;
                    print_draw(moment, d, scale, strtoull(many, &end, 10));
                }
                printf("]}\n");
            } else if (one) {
                printf("{\"output\": ");
                print_draw(moment, d, scale, strtoull(one, NULL, 10));
                printf(", \"batch\": 1000}\n");
            } else {
                printf("{\"error\": \"no seed\"}\n");
            }
        }
        fflush(stdout); /* without it the reply stays in a buffer, and covassay waits until the time limit */
        free(x), free(moment);
    }
    free(line);
    return 0;
}
