// Refreshes the overview and sorts tables. Everything works without it.
