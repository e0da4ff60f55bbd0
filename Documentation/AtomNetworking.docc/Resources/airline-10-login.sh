swift run airline login   # ada, with the password lovelace
