"""`presscheck --linear`: the app as numbered plain text, one line after the other.

It is for screen readers, the shell of an editor, and serial lines: nothing is redrawn, and the cursor never moves. A
place prints its lines and has verbs. The loop reads a line and runs a verb. Places use the engine directly, and this
package does not import Textual.
"""
