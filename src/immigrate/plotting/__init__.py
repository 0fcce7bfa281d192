"""Displays: pictures that keep their data and import matplotlib only when drawn."""
