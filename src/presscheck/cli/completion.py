"""The command `presscheck completion`: scripts of click for zsh and fish, and own ones for bash and PowerShell.

The script for bash quotes proposals with blanks, which click's does not.

Importing this module registers bash and PowerShell. `presscheck.__main__` imports it if a script asks for completions.
"""

from __future__ import annotations

import os

import click
from click.shell_completion import (
    BashComplete,
    CompletionItem,
    ShellComplete,
    add_completion_class,
    get_completion_class,
)
from typing_extensions import override

_SOURCE = r"""
Register-ArgumentCompleter -Native -CommandName %(prog_name)s -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $words = $commandAst.CommandElements | Where-Object { $_.Extent.EndOffset -lt $cursorPosition } | ForEach-Object {
        $isText = $_ -is [System.Management.Automation.Language.StringConstantExpressionAst]
        if ($isText) { $_.Value } else { $_.Extent.Text }
    }
    $env:%(complete_var)s = 'powershell_complete'
    $env:COMP_WORDS = $words -join "`n"
    $env:COMP_CWORD = $wordToComplete.Trim("'", '"')
    try {
        %(prog_name)s | ForEach-Object {
            $type, $value, $help = $_ -split "`t", 3
            if ($type -ne 'plain') {
                [System.Management.Automation.CompletionCompleters]::CompleteFilename($wordToComplete)
            } else {
                $text = if ($value -match '[\s''"$;&|(){}]') { "'" + ($value -replace "'", "''") + "'" } else { $value }
                $kind = [System.Management.Automation.CompletionResultType]::ParameterValue
                [System.Management.Automation.CompletionResult]::new($text, $value, $kind, $help)
            }
        }
    } finally {
        Remove-Item Env:%(complete_var)s, Env:COMP_WORDS, Env:COMP_CWORD -ErrorAction SilentlyContinue
    }
}
"""


_QUOTED = """[[ ${COMP_WORDS[COMP_CWORD]} == [\\"\\']* ]] || printf -v value %%q "$value"
            COMPREPLY+=("$value")"""


@add_completion_class
class QuotingBashComplete(BashComplete):
    """Completion for bash. Proposals with blanks, such as the names of views, are quoted unless the word is."""

    source_template = BashComplete.source_template.replace("COMPREPLY+=($value)", _QUOTED)


@add_completion_class
class PowerShellComplete(ShellComplete):
    """Completion for PowerShell 5 and newer."""

    name = "powershell"
    source_template = _SOURCE

    @override
    def get_completion_args(self) -> tuple[list[str], str]:
        words = os.environ.get("COMP_WORDS", "").split("\n")
        return words[1:], os.environ.get("COMP_CWORD", "")

    @override
    def format_completion(self, item: CompletionItem) -> str:
        # the script splits lines at tabs, and a tool tip must not be empty
        value, help_ = (" ".join(text.split()) for text in (item.value, item.help or item.value))
        return f"{item.type}\t{value}\t{help_}"


SHELLS = ("bash", "zsh", "fish", PowerShellComplete.name)
"""The shells with completion."""


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print a shell completion script.

    For bash, add this line to ~/.bashrc: eval "$(presscheck completion bash)"
    """
    click.echo(completion_script(context.find_root().command, shell))


def completion_script(root: click.Command, shell: str) -> str:
    """Return the completion script of a shell, one of `SHELLS`."""
    completion_class = get_completion_class(shell)
    if completion_class is None:
        raise ValueError(f"there is no completion for {shell}")
    return completion_class(root, {}, "presscheck", "_PRESSCHECK_COMPLETE").source().strip()
