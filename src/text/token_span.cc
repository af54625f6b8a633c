#include "text/token_span.h"
