"""Open DeepSeek weights behind the official APIs, in front of an engine that only completes.

``settings``, ``refusals``, ``places``, ``wire`` and ``engines`` need no extra; ``recipe``,
``requests``, ``answers`` and ``server`` need the extra ``deepseek``.
"""
