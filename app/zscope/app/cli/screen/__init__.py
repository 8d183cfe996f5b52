"""One screen with the answers: `screen.toml` declares its parts, `screen_lines` composes their lines."""
