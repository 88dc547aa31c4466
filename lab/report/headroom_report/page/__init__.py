# SPDX-License-Identifier: MIT
"""The report whole: one page, or text on the terminal."""
