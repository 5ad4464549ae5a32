"""Who may ask what: one guard before everything that is served, which no page can forget."""
