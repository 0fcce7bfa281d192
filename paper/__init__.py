"""The experiments of the IMMIGRATE paper (Zhao, Hong, Liu, Entropy 2020), re-runnable.

`datasets` are the tables of its appendix, `methods` the rows of its result tables, `runner`
crosses them, `statistics`, `tables` and `figures` read what came out. This package imports
`immigrate`; `immigrate` never imports it, and it is not part of the installed library.
"""
