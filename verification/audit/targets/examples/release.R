# A target in R, for covassay: covassay audit 'exec:Rscript release.R' --mechanism entrywise-laplace --epsilon 1
#
# It reads requests and writes replies, one line of JSON each. It releases the second moment of rows in the unit ball,
# with Laplace noise of scale 2d/(n epsilon) on every entry. Not for production: the noise is floating point.

RNGkind("L'Ecuyer-CMRG") # its state has room for every digit of a seed; set.seed() would keep 32 bits of it

start <- function(seed) {
  numbers <- c(seed %% 2^26, seed %/% 2^26, 1, 2, 3, 4)
  assign(".Random.seed", as.integer(c(.Random.seed[1], numbers)), envir = globalenv())
  runif(20)
}

value_of <- function(line, key) { # what stands after "key":
  at <- regexpr(paste0('"', key, '":'), line, fixed = TRUE)
  if (at < 0) "" else substring(line, at + attr(at, "match.length"))
}

table_of <- function(text) { # [[…], …] as a matrix, or NULL
  if (!grepl("^ *\\[\\[", text)) return(NULL)
  rows <- strsplit(sub("^ *\\[\\[", "", sub("\\]\\].*", "", text)), "\\], *\\[")[[1]]
  rows <- lapply(strsplit(rows, ","), as.numeric)
  if (length(rows) == 0 || length(rows[[1]]) == 0) NULL else do.call(rbind, rows)
}

drawn <- function(seed, moment, scale) {
  start(seed)
  size <- length(moment)
  output <- moment + scale * (log(runif(size)) - log(runif(size)))
  rows <- apply(output, 1, function(row) paste0("[", paste(sprintf("%.17g", row), collapse = ", "), "]"))
  paste0("[", paste(rows, collapse = ", "), "]")
}

answer <- function(line) {
  x <- table_of(value_of(line, "x"))
  epsilon <- as.numeric(sub("[,}].*", "", value_of(line, "epsilon")))
  if (is.null(x) || !(epsilon > 0)) return('{"error": "no table of numbers, or no budget"}')
  x <- x / pmax(1, sqrt(rowSums(x^2))) # a longer row gets length 1
  moment <- crossprod(x) / nrow(x)
  scale <- 2 * ncol(x) / (nrow(x) * epsilon)
  seeds <- value_of(line, "seeds")
  if (seeds == "") {
    seed <- as.numeric(sub("[,}].*", "", value_of(line, "seed")))
    return(paste0('{"output": ', drawn(seed, moment, scale), ', "batch": 1000}'))
  }
  seeds <- as.numeric(strsplit(gsub("^ *\\[|\\].*", "", seeds), ",")[[1]])
  paste0('{"outputs": [', paste(sapply(seeds, drawn, moment, scale), collapse = ", "), "]}")
}

input <- file("stdin", "r")
while (length(line <- readLines(input, n = 1)) > 0) {
  cat(answer(line), "\n", sep = "")
  flush(stdout())
}
