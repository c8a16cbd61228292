"""What code is made for: processors, their levels, platforms."""
