# SPDX-License-Identifier: MIT
"""Tables: of what was measured, and of the documents beside it."""
