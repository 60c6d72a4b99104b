"""Small tools used in several places."""
