"""Systems' scores from everybody's ratings: estimate, interval, ranks, influence."""
