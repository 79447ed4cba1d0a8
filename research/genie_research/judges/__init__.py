"""What programs that label are worth beside people, by simulation and on published labels."""
