"""The conductor: joins what is stored (services) and what touches the world (adapters)."""
