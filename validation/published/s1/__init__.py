"""Yang, Zhang and Mo (S1): heap managers on an SGI UV of 32 sockets."""
