"""Local time and UTC: the offsets of clocks over time, and what is done where they are not known."""
