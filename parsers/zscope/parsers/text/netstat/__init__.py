"""NETSTAT reports of z/OS Communications Server, as TSO, the z/OS UNIX shell and the console print them."""
