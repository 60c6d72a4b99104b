"""Faults on purpose, for as long as one likes: kills, full disks, flipped bits, mutated documents, hostile requests,
lying model endpoints, several processes at once, clocks that jump. CONTRIBUTING.md says more.
"""
