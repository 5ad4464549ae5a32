"""What a case's outcome is decided on: both sides' answers and what they show of themselves."""
