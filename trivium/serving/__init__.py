"""What every server needs, whatever its protocol: one committed state read by many, and what may be asked of it."""
