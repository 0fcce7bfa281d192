"""The Relief family: each method is distance x coupling x statistic x update, one short file.

==========  ====================  ===================  ============  =========================
method      distance              coupling             statistic     update
==========  ====================  ===================  ============  =========================
Relief      Euclidean             nearest              diagonal      one pass
ReliefF     Manhattan             k nearest per class  diagonal      one pass
MultiSURF   Manhattan             nearer than most     diagonal      one pass
Simba       weighted Euclidean    nearest, recomputed  gradient      stochastic ascent
IRelief     weighted Manhattan    soft                 diagonal      unit sphere, w >= 0
LFE         Euclidean             nearest              full matrix   positive part of spectrum
==========  ====================  ===================  ============  =========================
"""

from immigrate.estimators.relief._irelief import IRelief
from immigrate.estimators.relief._lfe import LFE
from immigrate.estimators.relief._margin_knn import make_margin_knn
from immigrate.estimators.relief._multisurf import MultiSURF
from immigrate.estimators.relief._relief import Relief
from immigrate.estimators.relief._relieff import ReliefF
from immigrate.estimators.relief._simba import Simba

__all__ = ["LFE", "IRelief", "MultiSURF", "Relief", "ReliefF", "Simba", "make_margin_knn"]
