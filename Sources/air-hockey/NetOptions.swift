import ArgumentParser
import Carom
import TerminalText

/// The options shared by all commands that play over the network.
struct NetOptions: ParsableArguments {
  @Option(
    help: "The interface on which to find players, such as eth0 or lo; may be repeated.")
  var interface: [String] = []

  @Option(
    help: "The transport: udp, tcp, or auto, which prefers UDP and falls back to TCP.")
  var transport = Transport.auto

  @Option(
    parsing: .unconditional,
    help: "Seconds to wait for a player who has lost the network; 0 ends the match at once.")
  var reconnect = 10

  @Option(
    help: ArgumentHelp(
      "Play as if over another network, with its delay, jitter and loss, over UDP alone.",
      valueName: "profile"))
  var conditions: LinkProfile?

  @Flag(
    help: "Print the round trip, loss, state age, corrections and bytes every second.")
  var netStats = false

  func validate() throws {
    guard (0...3600).contains(reconnect) else {
      throw ValidationError("--reconnect must be a whole number of seconds from 0 to 3600.")
    }
    guard conditions == nil || transport != .tcp else {
      throw ValidationError("--conditions are simulated over UDP: omit --transport tcp.")
    }
  }

  /// The timing of the connections to the other players.
  var timing: SessionTiming {
    var timing = SessionTiming()
    timing.resumeLimit = .seconds(reconnect)
    return timing
  }

  /// The kinds of links that the game uses.
  var kinds: LinkKinds { conditions == nil ? transport.kinds : .datagram }

  var interfaces: InterfaceSelection { interface.isEmpty ? .automatic : .named(interface) }

  /// Returns the information about this player that is sent to peers.
  func peer(_ name: String, yieldsSeat: Bool = false, isSpectator: Bool = false) -> PeerInfo {
    PeerInfo(
      id: .random(), name: name, application: GameWire.application,
      applicationVersion: GameWire.version, yieldsSeat: yieldsSeat, isSpectator: isSpectator)
  }
}

extension LinkProfile: ExpressibleByArgument {
  /// Finds a profile by its name, such as "mobile".
  public init?(argument: String) {
    guard let profile = Self.all.first(where: { $0.name == argument }) else { return nil }
    self = profile
  }

  /// The names of all profiles.
  public static var allValueStrings: [String] { all.map(\.name) }
}

/// The transport of a game.
enum Transport: String, CaseIterable, ExpressibleByArgument, Sendable {
  case auto, udp, tcp

  var kinds: LinkKinds {
    switch self {
    case .auto: .all
    case .udp: .datagram
    case .tcp: .stream
    }
  }
}

extension ExitStatus {
  /// Creates the status of a program whose game ended for the given reason.
  init(_ reason: DisconnectReason) {
    switch reason {
    case .timedOut, .handshakeTimeout: self = .timedOut
    case .connectionReset, .connectionLost: self = .unreachable
    case .protocolViolation, .versionMismatch, .wrongApplication: self = .wrongVersion
    default: self = .success
    }
  }
}

extension CommandFailure {
  /// Creates the failure that reports a network error.
  init(_ error: TransportError) {
    let status: ExitStatus =
      switch error {
      case .addressInUse: .portTaken
      case .permissionDenied: .notPermitted
      case .unreachable, .connectionRefused, .connectionReset, .unknownHost, .nameServiceFailed,
        .addressNotAvailable:
        .unreachable
      case .timedOut: .timedOut
      case .noSuchInterface: .noSuchInterface
      default: .internal
      }
    self.init(status, error.description)
  }

  /// Creates the failure that reports a service discovery error.
  init(_ error: DiscoveryError) {
    let status: ExitStatus =
      switch error {
      case .portInUse: .portTaken
      case .permissionDenied: .notPermitted
      case .noMulticastInterface: .noMulticast
      case .noSuchInterface: .noSuchInterface
      case .nameMissing, .nameTooLong, .nameInvalid, .nameTaken: .badName
      case .timedOut: .timedOut
      case .hostNameContested, .hostHasNoAddress, .notOffered: .unavailable
      case .transport(let error): CommandFailure(error).status
      case .portMissing, .cancelled, .closed, .tooManyServices, .subtypeInvalid, .textTooLong,
        .tooManyQuestions, .domainNotLocal, .noNameServer:
        .internal
      }
    self.init(status, error.description)
  }

  /// Creates the failure that reports a session error, such as a refusal by the host.
  init(_ error: SessionError) {
    let status: ExitStatus =
      switch error {
      case .transport(let error): CommandFailure(error).status
      case .refused(.versionMismatch), .refused(.wrongApplication), .refused(.protocolViolation):
        .wrongVersion
      case .refused(.handshakeTimeout), .refused(.timedOut): .timedOut
      case .refused(.connectionReset), .refused(.connectionLost): .unreachable
      case .refused: .unavailable
      }
    self.init(status, error.description)
  }

  /// Creates the failure that reports `error`, whatever its type.
  init(any error: any Error) {
    switch error {
    case let error as CommandFailure: self = error
    case let error as TransportError: self.init(error)
    case let error as DiscoveryError: self.init(error)
    case let error as SessionError: self.init(error)
    default: self.init(.internal, "\(error)")
    }
  }
}
