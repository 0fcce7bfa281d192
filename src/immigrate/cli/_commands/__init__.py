"""One file per command; each takes what was typed, and ends or raises."""
