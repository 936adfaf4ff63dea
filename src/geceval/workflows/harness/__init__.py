"""geceval inside the engines that people evaluate and train with; each is imported only where it is used."""
