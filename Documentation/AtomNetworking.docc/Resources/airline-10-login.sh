swift run airline login ada   # the password is lovelace
