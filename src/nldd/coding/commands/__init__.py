"""Commands for coding answers, one file each: arguments, one call, print."""
