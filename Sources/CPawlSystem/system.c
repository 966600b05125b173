#include "CPawlSystem.h"
