"""Machine checks of the claims of ADK19 (Amin, Dick, Kulesza, Muñoz and Vassilvitskii)."""
