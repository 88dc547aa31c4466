# SPDX-License-Identifier: MIT
"""Result files in, figures out; and the documents' own figures."""
