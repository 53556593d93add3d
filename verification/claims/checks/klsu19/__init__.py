"""Machine checks of the claims of KLSU19 (Kamath, Li, Singhal and Ullman)."""
