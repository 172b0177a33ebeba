"""What proves quality: each eval prints one JSON object and never trains on what it is given."""
