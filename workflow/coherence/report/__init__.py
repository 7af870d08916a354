"""The report and the trajectory pages: HTML that stands alone, in which hostile text is inert."""
