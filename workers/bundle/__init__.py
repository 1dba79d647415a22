"""The seam: what an attempt left behind, as a directory of raw files with a manifest.

manifest.py  what ran, typed      writer.py  phases → files → archive      reader.py  archive → ParsedTrial
"""
