# IO#nonblock and its kin are built in.
