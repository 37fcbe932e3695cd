"""What a worker's actions pass on their way to the world."""
