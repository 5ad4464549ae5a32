"""Two real engines side by side: vLLM and llama.cpp on the same weights. Opt-in: too heavy."""
