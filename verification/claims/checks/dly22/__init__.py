"""Machine checks of the claims of DLY22 (Dong, Liang and Yi)."""
