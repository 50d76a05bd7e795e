# IO#wait and its kin are built in.
