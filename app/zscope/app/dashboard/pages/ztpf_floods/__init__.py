"""The page of this name: `ztpf_floods_page` draws it; the model of a flood is a part of it."""
