"""Pictures of fitted models. A display keeps its data; matplotlib is imported when it draws."""

from immigrate.plotting._interaction_network import InteractionNetworkDisplay
from immigrate.plotting._pair_effect import PairEffectDisplay
from immigrate.plotting._penalty_path import PenaltyPathDisplay
from immigrate.plotting._sigma_path import SigmaPathDisplay
from immigrate.plotting._weight_map import WeightMatrixDisplay
from immigrate.plotting.style import require_matplotlib

__all__ = [
    "InteractionNetworkDisplay",
    "PairEffectDisplay",
    "PenaltyPathDisplay",
    "SigmaPathDisplay",
    "WeightMatrixDisplay",
    "require_matplotlib",
]
