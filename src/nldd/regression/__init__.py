"""Binomial regression of the number of wrong labels on both distances.

Each pair of a validation sample and a training row has two distances (Dx, Dy) and a number of
labels, of L, that differ. Two models of the expected error rate per label, theta::

    linear           log(theta / (1 - theta)) = b0 + b1 * Dx + b2 * Dy
    multiplicative   log(theta / (1 - theta)) = b0 + Dx^b1 * Dy^b2

with b1, b2 >= 0, so that theta never decreases when a distance increases. ``_likelihood`` has the
loss and the estimates of both models, ``_regression`` the pairs, standard errors, GEE and warnings.
"""
