"""What is compared: each module takes URL, suite and concurrency, and prints its seconds."""
