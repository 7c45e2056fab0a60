"""Requests that tools/triton_differences.py sends to `tenfold serve` and to a real Triton; a file for each family of them.

Each file has asks(), which gives `Http` and `Grpc` in the order in which they are sent: some change what the server has.
"""
