Register-ArgumentCompleter -Native -CommandName presscheck -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $words = $commandAst.CommandElements | Where-Object { $_.Extent.EndOffset -lt $cursorPosition } | ForEach-Object {
        $isText = $_ -is [System.Management.Automation.Language.StringConstantExpressionAst]
        if ($isText) { $_.Value } else { $_.Extent.Text }
    }
    $env:_PRESSCHECK_COMPLETE = 'powershell_complete'
    $env:COMP_WORDS = $words -join "`n"
    $env:COMP_CWORD = $wordToComplete.Trim("'", '"')
    try {
        presscheck | ForEach-Object {
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
        Remove-Item Env:_PRESSCHECK_COMPLETE, Env:COMP_WORDS, Env:COMP_CWORD -ErrorAction SilentlyContinue
    }
}
