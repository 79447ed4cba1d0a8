"""Systems' scores from all ratings: estimate, interval, ranks, influence."""
