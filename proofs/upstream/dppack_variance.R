# DPpack (0.2.2): varDP draws its noise again until the result is positive, and the loss is then above ε.
#
# Rscript dppack_variance.R           with DPpack installed
# Rscript dppack_variance.R COPY      with a copy of its repository, and rmutil
#
# Noise of scale b about 0 is positive with probability 1/2, and about b/ε with 1 − exp(−ε)/2. Drawing again divides the
# two densities by these numbers, so that their ratio near 0 is exp(ε)(2 − exp(−ε)): a loss of 1.49 for ε = 1. sdDP has it
# too. Neighbours differ in one value ('bounded', the default).

copy <- commandArgs(trailingOnly = TRUE)
if (length(copy)) {
  for (file in c("Mechanisms.R", "DataAccess.R", "StatFunctions.R")) source(file.path(copy[1], "R", file))
} else {
  varDP <- DPpack::varDP
}
epsilon <- 1
draws <- 100000
errors <- 7 # "FAULT" is printed by mistake only if a frequency is this many standard errors away from its mean
n <- 12
border <- 0.2 * 1 / n # of the scale of the noise, for the range [0, 1]

share <- function(x) mean(replicate(draws, varDP(x, epsilon, 0, 1)) <= border)

set.seed(1)
first <- share(rep(0, n))
second <- share(c(rep(0, n - 1), 1))
low <- first - errors * sqrt(first / draws)
high <- second + errors * sqrt(second / draws)
cat(sprintf("variance <= %.4f: shares %.4f and %.4f on neighbours, loss >= %.3f for epsilon = 1\n",
            border, first, second, log(low / high)))
if (log(low / high) > epsilon) {
  cat("FAULT: the privacy loss of varDP is above epsilon\n")
  quit(status = 1)
}
cat("no fault found\n")
