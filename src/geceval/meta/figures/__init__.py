"""Figures of meta-evaluation."""
