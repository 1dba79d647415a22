"""pgpool-II, as a topology runs it and a collector asks it: which program, what it says, how it fails over."""
