# SPDX-License-Identifier: MIT
"""The documents that the lab repeats, as a reader finds them."""

from __future__ import annotations

P0089R0 = "P0089R0"
RESERVE_AND_COMMIT = "Reserve and commit"
MREMAP = "A fast vector with mremap"
FOUR_GB = "4GB per Vector"
REALLOCATION = "Vector reallocation strategies"

CITATIONS = {
    P0089R0: "John Lakos, Jeffrey Mendelsohn, Alisdair Meredith, Nathan Myers: On Quantifying Memory-Allocation Strategies (Revision 1). "
    "ISO/IEC JTC1/SC22/WG21, document P0089R0, 28 September 2015",
    RESERVE_AND_COMMIT: "Reserve and commit. Article on the web site “yakubin’s notes”",
    MREMAP: "Wojciech Oziębły: A fast vector with mremap (Szybki vector z mremap). Engineering thesis, University of Wrocław, supervisor "
    "Marek Szykuła, 8 February 2019",
    FOUR_GB: "Malte Skarupke: 4GB per Vector. Weblog article",
    REALLOCATION: "Vector reallocation strategies. Weblog article, 11 August 2011 (its part on make_shared: 20 July 2011)",
}
