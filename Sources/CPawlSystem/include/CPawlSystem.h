// The one door to system calls that Swift cannot make: variadic ones and those that the C library's overlay hides.
#pragma once
