"""The Relief family: each method is distance x coupling x statistic x update, one short file.

==========  ====================  ===================  ============  =========================
method      distance              coupling             statistic     update
==========  ====================  ===================  ============  =========================
Relief      Euclidean             nearest              diagonal      one pass
ReliefF     Manhattan             k nearest per class  diagonal      one pass
Simba       weighted Euclidean    nearest, recomputed  gradient      stochastic ascent
IRelief     weighted Manhattan    soft                 diagonal      unit sphere, w >= 0
LFE         Euclidean             nearest              full matrix   positive part of spectrum
==========  ====================  ===================  ============  =========================
"""
