import CaromFleet
import CaromPlacement
import CaromTransport
import TerminalText

extension CommandFailure {
  /// Creates the failure that reports why the directory of a fleet gave no answer.
  package init(_ error: RedisError) {
    let status: ExitStatus =
      switch error {
      case .transport(.permissionDenied): .notPermitted
      case .transport(.timedOut): .timedOut
      case .transport(.outOfDescriptors): .internal
      case .transport: .unreachable
      case .tls(.unanswered), .timedOut, .tooManyCommands: .timedOut
      case .tls(.missing), .tls(.incompatible), .tls(.violation), .webServer: .wrongVersion
      case .tls: .notPermitted
      case .tlsFiles: .ioFailed
      case .noAnswer: .unreachable
      case .passwordRequired, .passwordRejected, .notPermitted: .notPermitted
      case .malformed, .functionsUnsupported: .wrongVersion
      case .functionMissing, .loading, .failed: .unavailable
      }
    self.init(status, error.description)
  }
}
