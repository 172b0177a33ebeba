"""All Streamlit code that is not a page: frame, state, resources, views, languages."""
