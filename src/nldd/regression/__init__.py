"""Binomial regression of the number of wrong labels on both distances.

Each pair of a validation instance and a training row tells how far apart the two are (Dx, Dy)
and how many of the L labels differ. Two models of the probability theta that a label differs::

    linear           log(theta / (1 - theta)) = b0 + b1 * Dx + b2 * Dy
    multiplicative   log(theta / (1 - theta)) = b0 + Dx^b1 * Dy^b2

with b1, b2 >= 0, so that theta never falls when a distance grows.

Files: ``_pairs`` (the data), ``_loss`` (likelihood, gradient, information), ``_newton`` (its
minimum under the bounds), ``_linear``, ``_multiplicative`` and ``_gee`` (the three fits), ``_fit``
(which of them, warnings), ``_result`` (coefficients, standard errors, theta, summary).
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
