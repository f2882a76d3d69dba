#include "cuvloop.h"
#include <uv.h>
