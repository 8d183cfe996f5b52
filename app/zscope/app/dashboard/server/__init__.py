"""The program that Streamlit runs.

It has a separate folder, because Streamlit treats a folder `pages` beside its program as its own pages.
"""
