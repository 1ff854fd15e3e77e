"""What "equally near" means. Who wins then is in the kernel: Dy, then Dx, then the lowest row."""

# Distances closer than this, relative to their size, are equal: they differ by rounding alone.
TIE = 1e-9
