# SPDX-License-Identifier: MIT
"""What git knows of this tree, for scripts; a tree may come without it."""
import subprocess

from sources import ROOT


def git(*words):
    """What git prints; None if it fails."""
    try:
        run = subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True)
    except OSError:
        return None
    return run.stdout.strip() if run.returncode == 0 else None
