"""Every query there is, by what it is for. Values only ever travel as parameters."""
