"""The XML that HITs and tests are made of: read, checked, shown, graded."""
