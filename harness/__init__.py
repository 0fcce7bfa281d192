"""Harnesses that try to break the library; they are not installed with it."""
