"""Știrb (S3): threads mapped by their types."""
