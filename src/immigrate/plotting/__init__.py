"""Pictures of fitted models. A display keeps its data; matplotlib is imported when it draws."""

from immigrate.plotting.interaction_network import InteractionNetworkDisplay
from immigrate.plotting.pair_effect import PairEffectDisplay
from immigrate.plotting.paths import PenaltyPathDisplay, SigmaPathDisplay
from immigrate.plotting.weight_map import WeightMatrixDisplay

__all__ = [
    "InteractionNetworkDisplay",
    "PairEffectDisplay",
    "PenaltyPathDisplay",
    "SigmaPathDisplay",
    "WeightMatrixDisplay",
]
