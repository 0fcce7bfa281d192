"""Penalties as values: what weights cost on top of the margin, or which of them are cut."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Sequence
from copy import copy
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from immigrate.arrays import Array, Codes, Mask
from immigrate.checks import (
    check_choices,
    check_count,
    check_not_negative,
    check_option,
    check_share,
)
from immigrate.core.cones import MATRIX_SETS, Cone, WeightSet, norm
from immigrate.core.penalties import Penalised, PricedElements, PricedNorm, pruned

PENALISED = ("pairs", "all")
# Of triples, as a share of their steepest slope; measured in docs/measurements/three-way.md.
STRENGTH_OF_TRIPLES = 0.3
# A strength at which no table has kept a pair; the gradient at such a fit says which would do.
NO_PAIRS = 1e6


# scikit-learn's base is for get_params, set_params, clone and print; a penalty has no fit.
class Penalty(BaseEstimator, metaclass=ABCMeta):
    """What is done about weights besides making the margin large.

    A subclass changes the weight set of the solver, or the weights that the solver found.
    """

    @property
    def is_priced(self) -> bool:
        """Whether weights cost something during the fit."""
        return False

    def check(self, constraint: str) -> None:
        """Refuse parameters that make no sense, also together with the constraint."""

    def kept(self, weights: Array) -> Array:
        """The weights of the model, from those that the solver found."""
        return weights


class PricedPenalty(Penalty):
    """A penalty that joins the cost; it has a parameter `strength`."""

    strength: float

    @property
    def is_priced(self) -> bool:
        """Whether weights cost something during the fit."""
        return self.strength > 0

    @property
    def kind(self) -> tuple[Any, ...]:
        """All parameters but the strength: penalties of one kind make a path."""
        others = self.get_params() | {"strength": None}
        return type(self), *sorted(others.items())

    @abstractmethod
    def weight_set(self, cone: Cone, owner: Codes, unit: float) -> WeightSet:
        """Where weights live and what they cost there.

        Parameters
        ----------
        cone : Cone
        owner : ndarray of shape (p,)
            The feature that each row of the weights belongs to.
        unit : float
            The unit of the strength, in the units of the cost.
        """

    @abstractmethod
    def entering_price(self, direction: Array, cone: Cone, owner: Codes) -> float:
        """The price below which a pair enters a fit without pairs, where -Sigma is `direction`."""

    def check(self, constraint: str) -> None:
        """Refuse parameters that make no sense, also together with the constraint."""
        check_not_negative("strength", self.strength)
        if self.is_priced and not MATRIX_SETS[constraint].is_projection:
            *others, last = (repr(one) for one, cone in MATRIX_SETS.items() if cone.is_projection)
            raise ValueError(
                f"penalty={self!r} needs a projection and constraint={constraint!r} is none, so "
                f"that weights could not be told their price; take constraint={', '.join(others)} "
                f"or {last}, or penalty='prune'."
            )


class L1(PricedPenalty):
    """A price on the size of every pair: weights that are not worth it become exactly 0.

    The cost of a fit becomes C(W) + strength * u * sum of |W_ab|, where u is the norm of the
    gradient of C at the starting weights. So a strength means the same whatever the units and the
    size of the table: at 0 nothing changes, at 0.1 most pairs of most tables are gone, and at 1
    hardly one is left.

    Parameters
    ----------
    strength : float, default=0.05
        Price, in units of the gradient at the start.
    penalise : {"pairs", "all"}, default="pairs"
        Which weights have a price: those of pairs of features, or those of single features too.

    See Also
    --------
    L2 : Shrinks all pairs alike.
    Prune : Cuts small weights after the fit.
    ImmigrateClassifierCV : Chooses the strength.

    Examples
    --------
    >>> from immigrate import ImmigrateClassifier
    >>> from immigrate.options import L1
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> for strength in (0, 0.05, 1):
    ...     model = ImmigrateClassifier(constraint="nonnegative", penalty=L1(strength)).fit(X, y)
    ...     print((model.weight_matrix_ > 0).sum() - 13 > 0)
    True
    True
    False
    """

    def __init__(self, strength: float = 0.05, *, penalise: str = "pairs") -> None:
        self.strength = strength
        self.penalise = penalise

    def check(self, constraint: str) -> None:
        """Refuse parameters that make no sense, also together with the constraint."""
        check_option("penalise", self.penalise, PENALISED)
        super().check(constraint)

    def weight_set(self, cone: Cone, owner: Codes, unit: float) -> WeightSet:
        """The cone with a price on elements."""
        # Two levels of one column are no pair, although they have a place off the diagonal.
        is_chosen = are_pairs(owner) if self.penalise == "pairs" else True
        price = np.where(is_chosen, self.strength * unit, 0.0)
        price = np.broadcast_to(price, (len(owner), len(owner)))
        return Penalised(cone, PricedElements(price, cone.elements))

    def entering_price(self, direction: Array, cone: Cone, owner: Codes) -> float:
        """The largest element of a pair."""
        return float(_gains(direction, cone)[are_pairs(owner)].max(initial=0.0))


class L2(PricedPenalty):
    """A price on the norm of all pairs together: they shrink by one factor.

    The cost of a fit becomes C(W) + strength * u * the root of the sum of W_ab squared over pairs,
    with u as in `L1`. It is the norm and not its square, because W has norm 1: ridge regression
    has the same solutions at other strengths, but here all pairs are 0 from a finite strength on.
    Single features have no price, because the norm of all weights is 1 in any case.

    Parameters
    ----------
    strength : float, default=0.2
        Price, in units of the gradient at the start.

    See Also
    --------
    L1 : Pairs that are not worth it become 0 one by one.

    Examples
    --------
    >>> import numpy as np
    >>> from immigrate import ImmigrateClassifier
    >>> from immigrate.options import L2
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> model = ImmigrateClassifier(penalty=L2(1.0)).fit(X, y)
    >>> np.array_equal(model.weight_matrix_, np.diag(model.weight_matrix_.diagonal()))
    True
    """

    def __init__(self, strength: float = 0.2) -> None:
        self.strength = strength

    def weight_set(self, cone: Cone, owner: Codes, unit: float) -> WeightSet:
        """The cone with a price on the norm of pairs."""
        price = self.strength * unit
        return Penalised(cone, PricedNorm(price, are_pairs(owner), cone.elements))

    def entering_price(self, direction: Array, cone: Cone, owner: Codes) -> float:
        """The norm of the elements of all pairs."""
        return norm(_gains(direction, cone)[are_pairs(owner)])


class Prune(Penalty):
    """Cut weights below a threshold after the fit and rescale: section 3.4.3 of the paper [1]_.

    Parameters
    ----------
    threshold : float or None, default=None
        Smallest size that stays. None is the paper's limit, 1 over the number of features in W.

    See Also
    --------
    L1 : Decides during the fit which weights are 0.

    References
    ----------
    .. [1] R. Zhao, P. Hong and J. S. Liu, "IMMIGRATE: A margin-based feature selection method
       with interaction terms", Entropy 22(3):291, 2020. :doi:`10.3390/e22030291`

    Examples
    --------
    >>> from immigrate import ImmigrateClassifier
    >>> from immigrate.options import Prune
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> model = ImmigrateClassifier(penalty=Prune(0.2)).fit(X, y)
    >>> size = abs(model.weight_matrix_)
    >>> bool(size[size > 0].min() >= 0.2)
    True
    """

    def __init__(self, threshold: float | None = None) -> None:
        self.threshold = threshold

    def check(self, constraint: str) -> None:
        """Refuse parameters that make no sense."""
        if self.threshold is not None:
            check_not_negative("threshold", self.threshold)

    def kept(self, weights: Array) -> Array:
        """The weights of the model, from those that the solver found."""
        below = 1 / len(weights) if self.threshold is None else self.threshold
        return pruned(weights, below=below)


NAMED: dict[str, type[Penalty]] = {"l1": L1, "l2": L2, "prune": Prune}


def are_pairs(owner: Codes) -> Mask:
    """Elements of W that belong to two different features, (p, p)."""
    different: Mask = owner[:, None] != owner
    return different


def _gains(direction: Array, cone: Cone) -> Array:
    """By how much a weight would gain per unit, where the cone allows its sign and place."""
    return np.abs(cone.elements.part(direction))


def named_penalty(penalty: Any) -> Any:
    """The value that a name stands for; everything else stays what it is."""
    if not isinstance(penalty, str):
        return penalty
    return NAMED[check_option("penalty", penalty, NAMED)]()


def resolved_penalty(penalty: Any, constraint: str) -> Penalty | None:
    """The checked value that a name stands for; None, and a penalty, stay what they are."""
    penalty = named_penalty(penalty)
    if penalty is None:
        return None
    if not isinstance(penalty, Penalty):
        raise ValueError(
            f"penalty must be None, 'l1', 'l2', 'prune' or a value such as L1(0.1), L2(0.1) or "
            f"Prune(0.1); got {penalty!r}."
        )
    penalty.check(check_option("constraint", constraint, MATRIX_SETS))
    return penalty


def penalty_of_triples(penalty: Any) -> L1 | None:
    """The checked price on triples that a name stands for; None, and an `L1`, stay the same."""
    if isinstance(penalty, str):
        check_option("penalty", penalty, ("l1",))
        return L1(STRENGTH_OF_TRIPLES)
    if penalty is None:
        return None
    if not isinstance(penalty, L1) or penalty.penalise != "pairs":
        raise ValueError(
            "penalty must be None, 'l1' or a value such as L1(0.3), which is a price on triples "
            f"alone here and takes no `penalise`; got {penalty!r}."
        )
    check_not_negative("strength", penalty.strength)
    return penalty


def resolved_penalties(penalties: Any, constraint: str) -> Sequence[Penalty | None]:
    """What there is to choose from, each penalty once."""
    resolved = [resolved_penalty(one, constraint) for one in check_choices("penalties", penalties)]
    # Compared by their text, because penalties with equal parameters are not equal in Python.
    if len({repr(one) for one in resolved}) < len(resolved):
        raise ValueError(f"penalties={penalties!r} holds a choice twice.")
    return resolved


class PenaltyPath(BaseEstimator):
    """Strengths of a penalty to choose from: from the one that leaves no pair down to no penalty.

    The largest strength is the smallest one that leaves no pair at any sigma; a fit without pairs
    finds it. Each of the others is smaller by the same factor. The last choice is no penalty.

    Parameters
    ----------
    penalty : {"l1", "l2"}, `L1` or `L2`, default="l1"
        The penalty whose strength varies; the strength that it has itself is not read.
    n_strengths : int, default=20
        Number of strengths, beside no penalty.
    smallest : float, default=0.05
        The smallest strength, as a share of the largest.

    See Also
    --------
    ImmigrateClassifierCV : Takes this as `penalties`.
    PenaltyPathDisplay : Draws along which strengths pairs enter.

    Examples
    --------
    >>> from immigrate import ImmigrateClassifier, ImmigrateClassifierCV
    >>> from immigrate.options import PenaltyPath
    >>> from immigrate.datasets import make_xor
    >>> X, y = make_xor(random_state=0)
    >>> model = ImmigrateClassifierCV(
    ...     ImmigrateClassifier(constraint="nonnegative"),
    ...     penalties=PenaltyPath(n_strengths=5),
    ...     one_standard_error=True,
    ... )
    >>> len(model.fit(X, y).strengths_)
    6
    """

    def __init__(
        self, penalty: Any = "l1", *, n_strengths: int = 20, smallest: float = 0.05
    ) -> None:
        self.penalty = penalty
        self.n_strengths = n_strengths
        self.smallest = smallest

    def check(self, constraint: str) -> None:
        """Refuse parameters that make no sense."""
        check_count("n_strengths", self.n_strengths)
        check_share("smallest", self.smallest)
        self.with_strength(NO_PAIRS).check(constraint)

    def with_strength(self, strength: float) -> PricedPenalty:
        """The penalty with this strength."""
        penalty = resolved_penalty(self.penalty, "psd")
        if not isinstance(penalty, PricedPenalty):
            raise ValueError(
                f"A PenaltyPath is of 'l1', 'l2', an L1 or an L2; got {self.penalty!r}, which has "
                "no strength. Offer pruning as a choice of its own: penalties=(None, 'prune')."
            )
        # Cloned once for each strength it takes as long as a few of the fits.
        other = copy(penalty)
        other.strength = strength
        return other


def checked_penalties(penalties: Any, constraint: str) -> PenaltyPath | Sequence[Penalty | None]:
    """What there is to choose from: a path, or penalties each of which is named once."""
    if isinstance(penalties, str):
        check_option("penalties", penalties, ("path",))
        penalties = PenaltyPath()
    if not isinstance(penalties, PenaltyPath):
        return resolved_penalties(penalties, constraint)
    penalties.check(constraint)
    return penalties
