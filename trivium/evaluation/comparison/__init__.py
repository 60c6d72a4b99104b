"""Two runs compared question by question, as a web page."""
