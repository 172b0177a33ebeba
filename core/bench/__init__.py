"""What proves speed: timings as ratios against a baseline measured in the same run."""
