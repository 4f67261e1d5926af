"""Lake & Baroni 2018, Generalization without systematicity: SCAN, its splits, and what nets make of them."""
