@_exported import TerminalText
