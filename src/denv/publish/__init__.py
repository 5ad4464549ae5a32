"""Reports that anybody may read: made from an allow-list, signed, checked, set side by side."""
