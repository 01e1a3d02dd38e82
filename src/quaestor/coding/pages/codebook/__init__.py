"""The codebook as people look at it and change it: tree, counts, versions, and what a change would move."""
