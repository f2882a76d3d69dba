// The same as on the other sides.
#include "../../../SessionPeers/sides.c"
