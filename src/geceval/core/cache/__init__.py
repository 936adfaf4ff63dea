"""Caches of earlier results: in memory, and in a folder that processes share."""
