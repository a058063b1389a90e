"""Cases from the papers, by paper."""
