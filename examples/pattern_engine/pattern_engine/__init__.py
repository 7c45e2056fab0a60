"""Scores for windows of prices: engines for a model (trt_engine), and the program that reads ticks (runner)."""
