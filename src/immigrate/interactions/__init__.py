"""The interaction test: every term against the additive model, and what is found in words."""
