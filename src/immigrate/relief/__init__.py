"""The Relief family: each method is distance x coupling x statistic x update, one short class.

=============  =====================================================================
``base``       the table of differences, one pass under a hard coupling, the selector
``relief``     Relief, ReliefF, MultiSURF
``simba``      stochastic ascent, with margins to the means of the classes
``irelief``    soft neighbours whose outliers count less
``metric``     LFE, and nearest neighbours on weighted features
=============  =====================================================================

The table of what each of them is made of is in docs/method/four-pieces.md.
"""

from immigrate.relief.irelief import IRelief
from immigrate.relief.metric import LFE, make_margin_knn
from immigrate.relief.relief import MultiSURF, Relief, ReliefF
from immigrate.relief.simba import Simba

__all__ = ["LFE", "IRelief", "MultiSURF", "Relief", "ReliefF", "Simba", "make_margin_knn"]
