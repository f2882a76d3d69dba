// The code that all sides share, compiled into this package.
#include "../../../SessionPeers/sides.c"
