import CaromCore

// A lobby whose host shares its port with others.
extension Lobby {
  package var hasMatters: Bool { host.hasMatters }

  /// Settles what waits with what all hosts of the group know.
  package mutating func consult(_ directory: inout HostDirectory, at now: Instant) {
    host.consult(&directory, at: now)
    collect(at: now)
  }

  package mutating func pollMail() -> (mail: HostMail, member: Int)? { host.pollMail() }

  package mutating func receiveRelayed(_ bytes: Span<UInt8>, from source: Route, at now: Instant) {
    host.receiveRelayed(bytes, from: source, at: now)
    collect(at: now)
  }

  package mutating func accept(
    _ handed: HandedStream, as link: ConnectionID, at now: Instant
  ) -> Bool {
    let isTaken = host.accept(handed, as: link, at: now)
    collect(at: now)
    return isTaken
  }

  package mutating func evict(_ link: ConnectionID, for other: ConnectionID, at now: Instant) {
    host.evict(link, for: other, at: now)
    collect(at: now)
  }

  package mutating func handleEvicted(for link: ConnectionID, at now: Instant) {
    host.handleEvicted(for: link, at: now)
    collect(at: now)
  }
}
