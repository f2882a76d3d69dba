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
    self.init(status, error.line)
  }
}

extension RedisError {
  /// The error as a program tells it, with the option that helps.
  package var line: String {
    switch self {
    case .tls(.untrusted): "\(self) with --redis-ca FILE"
    case .tls(.certificateRequired), .tls(.certificateRefused):
      "\(self) (--redis-certificate CERT KEY)"
    case .passwordRequired: "\(self): give it with --password-file FILE"
    default: description
    }
  }
}
