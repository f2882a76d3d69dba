import Carom
import TerminalText

@_exported import struct CommandSupport.CommandFailure

extension CommandFailure {
  typealias Status = ExitStatus
}

extension ExitStatus {
  /// Creates the status with which the program exits after its game ended for the given reason.
  init(_ reason: DisconnectReason) {
    switch reason {
    case .timedOut, .handshakeTimeout: self = .timedOut
    case .connectionReset, .connectionLost: self = .unreachable
    case .protocolViolation, .versionMismatch, .wrongApplication: self = .wrongVersion
    default: self = .success
    }
  }
}
