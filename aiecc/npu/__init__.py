"""Runtime words of the NPU."""
