"""The codebook: acts that change it, versions, differences, and a file a person can read."""
