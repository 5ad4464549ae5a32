"""What is installed, what can be reached, and what is set wrong. Nothing is changed by looking."""
