"""The additive model behind the interaction test: basis, design, fit and residuals."""
