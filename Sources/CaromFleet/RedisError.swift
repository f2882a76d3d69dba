import CaromCore
import CaromPlacement
import CaromTransport

/// Why a Redis server gave no answer, or none of use. No error contains a password.
public enum RedisError: Error, Hashable, Sendable {
  /// The connection could not be opened, or has broken: open another one.
  case transport(TransportError)
  /// The server closed the connection before it answered anything. It may want TLS, or be no Redis
  /// server: check the address.
  case noAnswer
  /// A server of HTTP answers: check the port.
  case webServer
  /// The connection with TLS could not be opened, or has broken.
  case tls(TLSFailure)
  /// OpenSSL cannot use the files for TLS any more, or has no memory.
  case tlsFiles(reason: String)
  /// The server sent something that is no answer: check that it is a Redis server.
  case malformed(DecodeError)
  /// The server did not answer in time: open another connection.
  case timedOut
  /// Too many commands wait for their answers: the server is too slow.
  case tooManyCommands
  /// The server asks for a password: give one.
  case passwordRequired
  /// The server does not accept the user or the password: check them.
  case passwordRejected
  /// The user may not do what a fleet needs, such as the command "fcall": change the user's
  /// permissions.
  case notPermitted(String)
  /// The server has no functions: use Redis 7, or a server that speaks the same protocol.
  case functionsUnsupported
  /// Somebody has removed the function from the server: open another connection, which installs it.
  case functionMissing
  /// The server has just started and is still loading its data from disk: try again.
  case loading
  /// The server could not carry out the command, and says why.
  case failed(message: String)
}

extension RedisError {
  /// Creates the error that the message of a server stands for.
  init(message: String) {
    switch message.prefix(while: { $0 != " " }) {
    case "NOAUTH": self = .passwordRequired
    case "WRONGPASS": self = .passwordRejected
    case "NOPERM": self = .notPermitted(Self.permission(in: message))
    case "LOADING": self = .loading
    default:
      if message.hasPrefix("ERR AUTH") {
        self = .passwordRejected
      } else if message.hasPrefix("ERR Function not found") {
        self = .functionMissing
      } else if message.hasPrefix("ERR The user executing the script can't") {
        self = .notPermitted(Self.permission(in: message))
      } else if message.hasPrefix("ERR unknown command") {
        self = .functionsUnsupported
      } else {
        self = .failed(message: message)
      }
    }
  }

  /// What a server does not permit: a command, in quotation marks if the program has sent it and in
  /// parentheses if the function has, or a key.
  private static func permission(in message: String) -> String {
    if message.contains("keys") { return "the keys of this fleet" }
    for (open, close) in [("'", "'"), ("(", ")")] as [(Character, Character)] {
      guard let first = message.firstIndex(of: open) else { continue }
      let text = message[message.index(after: first)...].prefix { $0 != close }
      if open == "(" || !message.contains("can't") {
        return "the command \(text.uppercased().replacing("|", with: " "))"
      }
    }
    return "this command"
  }

  init(_ error: RedisAnswerError) {
    switch error {
    case .failed(let message): self.init(message: message)
    case .malformed(let error): self = .malformed(error)
    }
  }

  /// Whether a connection on which this was the answer is of no more use.
  var endsConnection: Bool {
    switch self {
    case .malformed, .functionMissing: true
    default: false
    }
  }
}

extension RedisError: CustomStringConvertible {
  /// A line for users that says what happened and what to do.
  public var description: String {
    switch self {
    case .transport(.closed):
      "the connection to the fleet's directory was closed: check the Redis server"
    case .transport(let error): "the fleet's directory cannot be reached: \(error)"
    case .noAnswer:
      "the server closed the connection before it answered: use rediss:// if its port is one for "
        + "TLS, or check that it is a Redis server"
    case .webServer:
      "a web server answers at the address of the fleet's directory: name the port of Redis"
    case .tls(let failure): Self.description(of: failure)
    case .tlsFiles(let reason): "TLS to the Redis server is not possible: \(reason)"
    case .malformed(let error):
      "what answers is no directory of a fleet (\(error)): check the address"
    case .timedOut: "the fleet's directory does not answer: check the Redis server"
    case .tooManyCommands: "the fleet's directory answers too slowly: check the Redis server"
    case .passwordRequired: "the Redis server asks for a password"
    case .passwordRejected:
      "the Redis server does not accept the user or the password: check both"
    case .notPermitted(let permission):
      "the Redis server does not let this user use \(permission): permit it"
    case .functionsUnsupported: "the server has no functions: use Redis 7 or later"
    case .functionMissing: "the Redis server has lost the fleet's function: try again"
    case .loading: "the Redis server is still loading its data: try again in a moment"
    case .failed(let message): "the Redis server has refused the command: \(message)"
    }
  }

  private static func description(of failure: TLSFailure) -> String {
    let advice: String =
      switch failure {
      case .missing, .unanswered: ", or redis:// if the Redis server has no TLS"
      default: ""
      }
    return "no TLS to the fleet's directory: \(failure)\(advice)"
  }
}
