"""`presscheck --linear`: the work of the app as numbered plain text, one line after the other.

For screen readers, the shell of an editor, and serial lines: nothing is drawn again, and the cursor is never moved. A
place prints its lines and has verbs; the loop reads a line and runs a verb. Everything is read and written by the
engine, and this package imports no Textual.
"""
