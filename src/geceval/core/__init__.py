"""Values and checks that all parts of geceval use; standard library and numpy only."""
