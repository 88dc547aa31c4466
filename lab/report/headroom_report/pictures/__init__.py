# SPDX-License-Identifier: MIT
"""How a picture is drawn, and what each contender looks like in it."""
