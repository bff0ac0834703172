#include "model/pooler/state.h"
void pooler_canon(Pooler *p) { (void)p; }
