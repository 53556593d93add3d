#!/bin/sh
# A target in a POSIX shell with awk, for covassay: covassay audit 'exec:sh release.sh' --mechanism entrywise-laplace --epsilon 1
#
# It reads requests and writes replies, one line of JSON each. It releases the second moment of rows in the unit ball,
# with Laplace noise of scale 2d/(n epsilon) on every entry. Not for production: the noise is floating point.
#
# Every request starts awk once. A request may have many seeds, so that this costs little. awk ends after its reply and
# so flushes it.

while IFS= read -r line; do
  printf '%s\n' "$line" | LC_ALL=C awk '
    function value_of(key,    at) { # what stands after "key":
      at = index($0, "\"" key "\":")
      return at ? substr($0, at + length(key) + 3) : ""
    }
    function random() { # in (0, 1): two generators of L Ecuyer (1988), whose products awk computes exactly
      s1 = (40014 * s1) % 2147483563; s2 = (40692 * s2) % 2147483399
      return ((s1 - s2 + 2147483562) % 2147483562 + 0.5) / 2147483562
    }
    function drawn(seed,    i, j, text) {
      s1 = seed % 2147483562 + 1; s2 = int(seed / 2147483562) % 2147483398 + 1
      for (i = 0; i < 20; i++) random()
      text = "["
      for (i = 1; i <= d; i++) {
        text = text (i > 1 ? ", [" : "[")
        for (j = 1; j <= d; j++)
          text = text (j > 1 ? ", " : "") sprintf("%.17g", moment[i, j] + scale * (log(random()) - log(random())))
        text = text "]"
      }
      return text "]"
    }
    {
      table = value_of("x"); epsilon = value_of("epsilon") + 0; n = 0; d = 0
      sub(/^ */, "", table)
      table = match(table, /^\[\[[^a-df-zA-DF-Z"]*\]\]/) ? substr(table, 3, RLENGTH - 4) : ""
      if (table !~ /[0-9]/ || epsilon <= 0) { print "{\"error\": \"no table of numbers, or no budget\"}"; next }
      n = split(table, rows, /\], *\[/)
      for (k = 1; k <= n; k++) {
        d = split(rows[k], row, /, */)
        squares = 0
        for (i = 1; i <= d; i++) squares += row[i] * row[i]
        shrink = squares > 1 ? 1 / sqrt(squares) : 1 # a longer row gets length 1
        for (i = 1; i <= d; i++)
          for (j = 1; j <= d; j++) moment[i, j] += shrink * row[i] * shrink * row[j] / n
      }
      scale = 2 * d / (n * epsilon)
      seeds = value_of("seeds")
      if (seeds == "") { print "{\"output\": " drawn(value_of("seed") + 0) ", \"batch\": 1000}"; next }
      sub(/^ *\[/, "", seeds); sub(/\].*/, "", seeds)
      m = split(seeds, seed, /, */)
      printf "{\"outputs\": ["
      for (k = 1; k <= m; k++) printf "%s%s", (k > 1 ? ", " : ""), drawn(seed[k] + 0)
      print "]}"
    }'
done
