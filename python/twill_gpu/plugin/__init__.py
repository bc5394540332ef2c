"""What `import triton` finds in group `triton.backends`: nothing that compiles, and the switch that reads TWILL=1."""
