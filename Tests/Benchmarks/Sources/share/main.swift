// What the SDK itself costs, for Valgrind to count.

import OwnShare

OwnShare.run()
