"""Settings: composed by Hydra from `conf/`, validated into frozen models. Importing this package is free."""
