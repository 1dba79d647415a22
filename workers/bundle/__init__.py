"""Bundles: the files of one attempt with a manifest, the seam between executing and evaluating a trial.

manifest.py  what ran, typed      writer.py  phases → files → archive      reader.py  archive → ParsedTrial
"""
