"""Entry for `import triton` in group `triton.backends`: compiles no kernels, but has the switch that reads TWILL=1."""
