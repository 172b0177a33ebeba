"""Lectern's engine: reading, retrieval, evidence and agents. No Streamlit in here, ever."""
