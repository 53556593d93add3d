"""Machine checks of the claims of DN25 (d'Orsi and Novikov)."""
