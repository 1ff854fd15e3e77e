"""Binomial regression of the number of wrong labels on both distances.

Each pair of a validation instance and a training row tells how far apart the two are (Dx, Dy)
and how many of the L labels differ. Two models of the probability theta that a label differs::

    linear           log(theta / (1 - theta)) = b0 + b1 * Dx + b2 * Dy
    multiplicative   log(theta / (1 - theta)) = b0 + Dx^b1 * Dy^b2

with b1, b2 >= 0, so that theta never falls when a distance grows. ``_likelihood`` has the loss and
the estimates of both models, ``_regression`` the pairs, standard errors, GEE and warnings.
"""
