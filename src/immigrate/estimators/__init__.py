"""Estimators in the style of scikit-learn."""

from immigrate.estimators._interaction_test import InteractionTest

__all__ = ["InteractionTest"]
