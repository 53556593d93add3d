# Answers requests of covassay with a function of DPpack, from a copy of its R sources: Rscript dppack_functions.R COPY NAME
suppressMessages({
  library(jsonlite)
  library(rmutil)
})

arguments <- commandArgs(trailingOnly = TRUE)
for (file in c("AnalyticGaussianMechanismUtils.R", "Mechanisms.R", "DataAccess.R", "StatFunctions.R"))
  source(file.path(arguments[1], "R", file))
RNGkind("L'Ecuyer-CMRG") # its state has room for every digit of a seed

start <- function(seed) {
  numbers <- c(seed %% 2^26, seed %/% 2^26, 1, 2, 3, 4)
  assign(".Random.seed", as.integer(c(.Random.seed[1], numbers)), envir = globalenv())
  runif(20)
}

released <- function(x, epsilon, bounds) {
  switch(arguments[2],
    meanDP = meanDP(x[, 1], epsilon, bounds[1, 1], bounds[1, 2]),
    varDP = varDP(x[, 1], epsilon, bounds[1, 1], bounds[1, 2]),
    sdDP = sdDP(x[, 1], epsilon, bounds[1, 1], bounds[1, 2]),
    medianDP = medianDP(x[, 1], epsilon, bounds[1, 1], bounds[1, 2]),
    covDP = covDP(x[, 1], x[, 2], epsilon, bounds[1, 1], bounds[1, 2], bounds[2, 1], bounds[2, 2])
  )
}

as_json <- function(value) if (is.finite(value)) sprintf("%.17g", value) else "NaN"

failed <- function(e) toJSON(list(error = conditionMessage(e)), auto_unbox = TRUE)

drawn <- function(seed, asked) {
  start(seed)
  tryCatch(as_json(released(asked$x, asked$epsilon, asked$bounds)), error = failed)
}

answer <- function(line) {
  asked <- fromJSON(line)
  if (!is.null(asked$seeds))
    return(paste0('{"outputs": [', paste(sapply(asked$seeds, drawn, asked), collapse = ", "), "]}"))
  output <- drawn(asked$seed, asked)
  if (startsWith(output, "{")) output else paste0('{"output": ', output, "}")
}

input <- file("stdin", "r")
while (length(line <- readLines(input, n = 1)) > 0) {
  cat(tryCatch(answer(line), error = failed), "\n", sep = "")
  flush(stdout())
}
