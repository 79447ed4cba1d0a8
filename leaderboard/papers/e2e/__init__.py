"""Outputs rated k at a time on one page, as RankME and the E2E challenge did."""
