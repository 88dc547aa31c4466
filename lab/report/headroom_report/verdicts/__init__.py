# SPDX-License-Identifier: MIT
"""What the figures say of the claims, the promises and Headroom's standing."""
