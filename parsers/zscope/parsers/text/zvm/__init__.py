"""Reports of Performance Toolkit for z/VM: CPU time of virtual machines, traffic of channel paths."""
