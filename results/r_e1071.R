# One support vector machine of e1071, the package that the paper used. In FOLDER are numbers as they
# lie in memory: shape.bin (training rows, features, test rows, scale?, probabilities?, seed), y.bin
# (0 and 1), and the paths of training and test rows in rows.txt. In out.bin come classes, decision
# values and probabilities of the test rows, then A and B of Platt's sigmoid.
library(e1071)
folder <- commandArgs(trailingOnly = TRUE)[1]
numbers <- function(path, n) readBin(path, "double", n)
shape <- numbers(file.path(folder, "shape.bin"), 6)
paths <- readLines(file.path(folder, "rows.txt"))
X <- matrix(numbers(paths[1], shape[1] * shape[2]), ncol = shape[2])
Z <- matrix(numbers(paths[2], shape[3] * shape[2]), ncol = shape[2])
y <- factor(numbers(file.path(folder, "y.bin"), shape[1]))
set.seed(shape[6])
model <- svm(X, y,
  type = "C-classification", kernel = "linear", cost = 1, scale = shape[4] == 1,
  probability = shape[5] == 1, fitted = FALSE, cachesize = 1000
)
# Asked for probabilities, it would give the more probable class instead of the machine's.
found <- predict(model, Z, decision.values = TRUE)
out <- as.numeric(as.character(found))
if (shape[5] == 1) {
  f <- attr(found, "decision.values")
  sign <- if (colnames(f) == "1/0") 1 else -1
  p <- attr(predict(model, Z, probability = TRUE), "probabilities")[, "1"]
  out <- c(out, sign * f[, 1], p, model$probA, sign * model$probB)
}
writeBin(out, file.path(folder, "out.bin"))
