"""What an aggregate tells: Kalman filters for diagonal dynamics, reconstruction, identification."""

__all__: list[str] = []
