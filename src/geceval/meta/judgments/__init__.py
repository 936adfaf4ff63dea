"""What people thought of systems: reading it, and the data itself."""
