"""Reports as notebooks: the only place that knows the notebook format.

`template` reads the plain file a notebook is made from, `parameters` fills in which runs it is about, `document` turns
its cells into the text of a notebook, `writer` does all three for a report.
"""
