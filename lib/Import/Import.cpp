#include "lib/Import/Import.h"
