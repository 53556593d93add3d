/* Known answers for the releases of one mechanism: cc run.c -lm -o run && ./run flat/gauss-cov.txt
   Put your own function in the place of `answer`. Exit status: 0 if every answer was right and there was one, 1 otherwise. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef struct { int rows, columns; double *at; } matrix;
typedef struct { int count; char name[16][64], word[16][64]; } parameters;

static const char *word_of(const parameters *p, const char *name, const char *otherwise) {
    for (int k = 0; k < p->count; k++) if (!strcmp(p->name[k], name)) return p->word[k];
    return otherwise;
}
/* Write the output of one question; 0 refuses it. This example is gauss-cov. */
static int answer(matrix x, matrix noise, const parameters *p, double *output) {
    double rho = atof(word_of(p, "rho", "0")), bound = atof(word_of(p, "row_bound", "1"));
    const char *law = word_of(p, "ensemble", "wigner");
    int n = x.rows, d = x.columns, refuse = !strcmp(word_of(p, "on_large_rows", "clip"), "raise");
    if (strcmp(law, "wigner") && strcmp(law, "goe")) return 0;
    if (n < 1 || noise.rows != d || noise.columns != d || !(rho > 0) || !(bound > 0)) return 0;
    for (int i = 0; i < d * d; i++) output[i] = noise.at[i] / (n * sqrt(rho)) * bound * bound;
    for (int i = 0; i < d * d; i++) if (noise.at[i] != noise.at[i % d * d + i / d]) return 0;
    for (int k = 0; k < n; k++) {
        double square = 0, *row = x.at + k * d;
        for (int i = 0; i < d; i++) square += row[i] * row[i];
        if (!isfinite(square) || (refuse && sqrt(square) > bound)) return 0;
        double shrink = sqrt(square) > bound ? bound / sqrt(square) : 1;
        for (int i = 0; i < d * d; i++) output[i] += shrink * shrink * row[i / d] * row[i % d] / n;
    }
    return 1;
}

static matrix read_matrix(FILE *file) {
    matrix m;
    if (fscanf(file, "%*s %d %d", &m.rows, &m.columns) != 2) exit(1);
    m.at = calloc((size_t)m.rows * m.columns + 1, sizeof(double));
    for (int i = 0; i < m.rows * m.columns; i++) if (fscanf(file, "%lf", m.at + i) != 1) exit(1);
    return m;
}

int main(int count, char **arguments) {
    FILE *file = count > 1 ? fopen(arguments[1], "r") : NULL;
    int id, right = 0, wrong = 0;
    char result[16];
    while (file && fscanf(file, " test %d %15s", &id, result) == 2) {
        parameters p;
        if (fscanf(file, " parameters %d", &p.count) != 1 || p.count > 16) return 1;
        for (int k = 0; k < p.count; k++) if (fscanf(file, "%63s %63s", p.name[k], p.word[k]) != 2) return 1;
        matrix x = read_matrix(file), noise = read_matrix(file), expected = read_matrix(file);
        double relative, largest, *output = calloc((size_t)x.columns * x.columns + 1, sizeof(double));
        if (fscanf(file, " tolerance %lf %lf", &relative, &largest) != 2) return 1;
        int size = expected.rows * expected.columns, good = answer(x, noise, &p, output) == !strcmp(result, "valid");
        for (int i = 0; i < size; i++) largest = fmax(largest, fabs(expected.at[i]));
        for (int i = 0; i < size; i++) good = good && fabs(output[i] - expected.at[i]) <= relative * largest;
        if (!good) printf("test %d is wrong\n", id);
        good ? right++ : wrong++;
    }
    printf("%d right, %d wrong\n", right, wrong);
    return right && !wrong ? 0 : 1;
}
