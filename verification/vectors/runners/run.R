# Known answers for the releases of one mechanism: Rscript run.R flat/gauss-cov.txt
# Put your own function in the place of `answer`. Exit status: 0 if every answer was right and there was one, 1 otherwise.

# The output of one question, a matrix; an error refuses it. This example is gauss-cov. `given` has words.
answer <- function(x, noise, given) {
  value <- function(name, otherwise) if (is.null(given[[name]])) otherwise else given[[name]]
  rho <- as.numeric(value("rho", 0))
  bound <- as.numeric(value("row_bound", 1))
  d <- ncol(x)
  stopifnot(nrow(x) > 0, dim(noise) == c(d, d), noise == t(noise), rho > 0, bound > 0)
  stopifnot(value("ensemble", "wigner") %in% c("wigner", "goe"))
  norms <- sqrt(rowSums(x^2)) / bound
  if (value("on_large_rows", "clip") == "raise") stopifnot(norms <= 1)
  rows <- x / bound / pmax(1, norms)
  (crossprod(rows) / nrow(x) + noise / (nrow(x) * sqrt(rho))) * bound^2
}

words <- scan(commandArgs(TRUE)[1], what = "", quiet = TRUE)
at <- 0
take <- function(count = 1) {
  force(count)
  at <<- at + count
  if (count == 0) character(0) else words[(at - count + 1):at]
}
take_matrix <- function() {
  size <- as.integer(take(3)[2:3])
  matrix(as.numeric(take(prod(size))), nrow = size[1], byrow = TRUE)
}

right <- 0
wrong <- 0
while (at < length(words)) {
  head <- take(3) # "test", id, "valid" or "invalid"
  pairs <- matrix(take(2 * as.integer(take(2)[2])), nrow = 2)
  given <- as.list(pairs[2, ])
  names(given) <- pairs[1, ]
  x <- take_matrix()
  noise <- take_matrix()
  expected <- take_matrix()
  limit <- as.numeric(take(3)[2:3])
  output <- tryCatch(answer(x, noise, given), error = function(refused) NULL)
  if (head[3] == "invalid") {
    good <- is.null(output)
  } else {
    allowed <- limit[1] * max(limit[2], abs(expected))
    good <- !is.null(output) && all(dim(output) == dim(expected)) && all(abs(output - expected) <= allowed)
  }
  if (good) right <- right + 1 else wrong <- wrong + 1
  if (!good) cat("test", head[2], "is wrong\n")
}
cat(right, "right,", wrong, "wrong\n")
quit(status = if (right > 0 && wrong == 0) 0 else 1)
