"""The tables of the paper's Appendix A and section 4.1: what they are, where to get them."""

from paper.datasets.record import Dataset, Table
from paper.datasets.registry import DATASETS, GENE, LARGE, SMALL, SYNTHETIC
from paper.datasets.sources import download, load

__all__ = [
    "DATASETS",
    "GENE",
    "LARGE",
    "SMALL",
    "SYNTHETIC",
    "Dataset",
    "Table",
    "download",
    "load",
]
