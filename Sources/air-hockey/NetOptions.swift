import ArgumentParser
import Carom

/// The options that every way to play over the network has.
struct NetOptions: ParsableArguments {
  @Option(
    help: "The interface to find players on, such as eth0 or lo; may be repeated.")
  var interface: [String] = []

  @Option(
    help: "What carries the game: udp, tcp, or auto, which prefers UDP and falls back to TCP.")
  var transport = Transport.auto

  @Flag(
    help: "Tell each second of round trip, loss, age of the state, corrections and bytes.")
  var netStats = false

  var interfaces: InterfaceSelection { interface.isEmpty ? .automatic : .named(interface) }

  /// What this peer says of itself.
  func peer(_ name: String, yieldsSeat: Bool = false, isSpectator: Bool = false) -> PeerInfo {
    PeerInfo(
      id: .random(), name: name, application: GameWire.application,
      applicationVersion: GameWire.version, yieldsSeat: yieldsSeat, isSpectator: isSpectator)
  }
}

/// What carries a game.
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
  /// How a program ends whose game ended for that reason.
  init(_ reason: DisconnectReason) {
    switch reason {
    case .timedOut, .handshakeTimeout: self = .timedOut
    case .connectionReset, .connectionLost: self = .hostUnreachable
    case .protocolViolation, .versionMismatch, .wrongApplication: self = .wrongVersion
    default: self = .success
    }
  }
}

extension CommandFailure {
  /// The line and the status for what the network said.
  init(_ error: TransportError) {
    let status: ExitStatus =
      switch error {
      case .addressInUse: .portTaken
      case .permissionDenied: .notPermitted
      case .unreachable, .connectionRefused, .connectionReset, .unknownHost, .nameServiceFailed,
        .addressNotAvailable:
        .hostUnreachable
      case .timedOut: .timedOut
      case .noSuchInterface: .noMulticast
      default: .internal
      }
    self.init(status, error.description)
  }

  /// The line and the status for what discovery said.
  init(_ error: DiscoveryError) {
    let status: ExitStatus =
      switch error {
      case .portInUse: .portTaken
      case .permissionDenied: .notPermitted
      case .noMulticastInterface, .noSuchInterface: .noMulticast
      case .nameMissing, .nameTooLong, .nameInvalid, .nameTaken: .badName
      case .timedOut: .timedOut
      case .hostHasNoAddress, .notOffered: .unavailable
      case .transport(let error): CommandFailure(error).status
      case .portMissing, .cancelled, .closed, .tooManyServices, .subtypeInvalid, .textTooLong,
        .tooManyQuestions, .domainNotLocal, .noNameServer:
        .internal
      }
    self.init(status, error.description)
  }

  /// The line and the status for what the host said.
  init(_ error: SessionError) {
    let status: ExitStatus =
      switch error {
      case .transport(let error): CommandFailure(error).status
      case .refused(.versionMismatch), .refused(.wrongApplication), .refused(.protocolViolation):
        .wrongVersion
      case .refused(.handshakeTimeout), .refused(.timedOut): .timedOut
      case .refused(.connectionReset), .refused(.connectionLost): .hostUnreachable
      case .refused: .unavailable
      }
    self.init(status, error.description)
  }

  /// The line and the status for any of these.
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
