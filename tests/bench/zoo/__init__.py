# SPDX-License-Identifier: Apache-2.0
"""Models of the benchmarks, as plain PyTorch modules with random weights, after the papers that their docstrings name."""
