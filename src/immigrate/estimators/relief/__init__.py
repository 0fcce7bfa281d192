"""The Relief family: each method is distance x coupling x statistic x update, one short file.

The table of what each of them is made of is in docs/method/four-pieces.md.
"""

from immigrate.estimators.relief._irelief import IRelief
from immigrate.estimators.relief._lfe import LFE
from immigrate.estimators.relief._margin_knn import make_margin_knn
from immigrate.estimators.relief._multisurf import MultiSURF
from immigrate.estimators.relief._relief import Relief
from immigrate.estimators.relief._relieff import ReliefF
from immigrate.estimators.relief._simba import Simba

__all__ = ["LFE", "IRelief", "MultiSURF", "Relief", "ReliefF", "Simba", "make_margin_knn"]
