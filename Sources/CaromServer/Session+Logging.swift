import CaromProtocol
import CaromSession
import Logging

extension Session {
  /// Starts logging when peers join and leave and when their links change. Readers of `events` are
  /// not affected.
  ///
  /// The metadata contains a peer's id, name, kind of link and how that is protected, but never its
  /// address, its messages or a secret.
  public func log(to logger: Logger) async {
    await observe { $0.log(to: logger) }
  }
}

extension PeerEvent {
  func log(to logger: Logger) {
    logger.log(level: logLevel, "\(logText)", metadata: metadata)
  }

  var logLevel: Logger.Level {
    switch self {
    case .joined, .left: .info
    case .interrupted, .inputStopped, .malformed, .wrongCode, .missed: .notice
    case .linkChanged, .resumed, .inputResumed, .refused: .debug
    }
  }

  var logText: String {
    switch self {
    case .joined: "peer joined"
    case .left: "peer left"
    case .interrupted: "peer interrupted"
    case .resumed: "peer resumed"
    case .linkChanged: "peer's link changed"
    case .inputStopped: "peer's input stopped"
    case .inputResumed: "peer's input resumed"
    case .malformed: "peer sent an invalid message"
    case .refused: "peer refused"
    case .wrongCode: "wrong code"
    case .missed: "events missed"
    }
  }

  var metadata: Logger.Metadata {
    switch self {
    case .joined(let peer): peer.metadata(with: "protection", "\(peer.protection)")
    case .interrupted(let peer), .resumed(let peer): peer.metadata
    case .left(let peer, let reason): peer.metadata(with: "reason", "\(reason)")
    case .linkChanged(let peer, let kind): peer.metadata(with: "link", "\(kind)")
    case .refused(let info, let reason):
      ["peer.id": "\(info.id)", "peer.name": "\(info.name)", "reason": "\(reason)"]
    case .inputStopped(let peer, let channel), .inputResumed(let peer, let channel),
      .malformed(let peer, let channel):
      peer.metadata(with: "channel", "\(channel)")
    case .wrongCode(let failure): ["attempts": "\(failure.count)"]
    case .missed(let events): ["events": "\(events)"]
    }
  }
}

extension Peer {
  fileprivate var metadata: Logger.Metadata {
    ["peer.id": "\(id)", "peer.name": "\(name)", "peer.spectator": "\(isSpectator)"]
  }

  fileprivate func metadata(with key: String, _ value: String) -> Logger.Metadata {
    metadata.merging([key: "\(value)"]) { $1 }
  }
}
