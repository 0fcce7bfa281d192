from small_forests import _small_forests  # noqa: F401
