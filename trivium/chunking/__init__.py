"""How pages are cut into chunks: by the blocks that their parser found, or anew by another strategy."""
