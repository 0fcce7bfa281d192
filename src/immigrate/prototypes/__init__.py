"""Fewer references than samples: prototypes that stand for many samples each.

Prediction compares a new sample with every reference. A few thousand counted centres do as well
as all samples of a large table, at a fraction of the time, and a model that holds them no longer
holds the samples it was fitted on.

======================  ========================================================================
`ClassCentres`          centres of each class with the number of samples around them (k-means)
`EditedNeighbours`      samples whose neighbours agree with them (Wilson 1972)
`CondensedNeighbours`   samples that the nearest neighbour rule needs (Hart 1968)
======================  ========================================================================

Adding one is a class with one method, `groups`: which prototype each sample belongs to.
"""

from immigrate.prototypes._base import NOBODY, Prototypes
from immigrate.prototypes._centres import ClassCentres
from immigrate.prototypes._neighbours import CondensedNeighbours, EditedNeighbours

__all__ = [
    "NOBODY",
    "ClassCentres",
    "CondensedNeighbours",
    "EditedNeighbours",
    "Prototypes",
]
