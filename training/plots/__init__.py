"""Pictures: learning curves, bid calibration, match equity, cross tables, and a policy's choice in a position.

`python -m training.plots COMMAND` draws them as PNG and SVG (docs/plots.md). Each module works out what is shown apart
from drawing it; what all of them look like is in `style`.
"""
