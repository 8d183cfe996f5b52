"""The pages of the dashboard, one module or package each; see `zscope.app.dashboard.registry`."""
