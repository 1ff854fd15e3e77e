"""Commands for comparing methods, one file each: arguments, one call, print."""
