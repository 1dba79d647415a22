"""How far standbys and subscribers are behind, and how long they take to catch up."""
