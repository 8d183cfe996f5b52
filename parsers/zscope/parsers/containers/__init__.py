"""What dumps are wrapped in on their way: gzip, zip, AMATERSE, in any order, told by content."""
