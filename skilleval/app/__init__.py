"""The composition root: settings become objects, objects become files. The only user of the registries."""
