"""Library calls that are the measure of a kernel."""


def best_libraries(rows):
    """TFLOPS of the fastest library call, by kernel, size and regime."""
    best = {}
    for row in rows:
        if row["who"].startswith(("cublas", "cudnn")):
            key = (row["kernel"], tuple(row["size"]), row["regime"])
            best[key] = max(best.get(key, 0), row["tflops"])
    return best
