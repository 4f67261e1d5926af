"""McCoy et al. 2024, Embers of autoregression: what is improbable is answered wrongly, however trivial it is."""
