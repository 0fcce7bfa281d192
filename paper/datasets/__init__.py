"""The 25 tables of the paper's Appendix A and its synthetic one: what they are, and where to get them."""

from paper.datasets.record import Dataset, Table
from paper.datasets.registry import DATASETS, GENE, LARGE, SMALL, SYNTHETIC
from paper.datasets.sources import load

__all__ = ["DATASETS", "GENE", "LARGE", "SMALL", "SYNTHETIC", "Dataset", "Table", "load"]
