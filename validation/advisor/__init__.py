"""The advisor's study: does the closed form say rightly where latency-weighted chunks pay off?"""
