"""The program that Streamlit runs.

It has a separate folder, because Streamlit treats a folder `pages` next to its program as its own pages.
"""
