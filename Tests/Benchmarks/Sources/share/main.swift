// The cost of the SDK itself, for Valgrind to count.

import OwnShare

OwnShare.run()
