"""Causes faults on purpose, for as long as asked: kills, full disks, flipped bits, mutated documents, hostile requests,
lying model endpoints, several processes at once, clocks that jump. CONTRIBUTING.md says more.
"""
