"""From parsed columns to a Dataset: roles, ids, labels, scores, segments, and what has to be said about them."""
