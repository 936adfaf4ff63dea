"""What a network says about a sentence."""
