"""Values and checks that every room of geceval stands on; standard library and numpy only."""
