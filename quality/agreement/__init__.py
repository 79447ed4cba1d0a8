"""Inter-annotator agreement: kappas, Krippendorff's alpha, intraclass correlation; pure.

Front door: models; icc; kappa; krippendorff; label_counts.
"""
