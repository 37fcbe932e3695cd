"""Invented runs of any size, for screenshots and benches: never mixed up with real ones, their
origin is "seed". The events come first; every row is folded from them."""
