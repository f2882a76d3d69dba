import CaromCore

// The group's part of `Host`, for a lobby whose host shares its port with others.
extension Lobby {
  /// Whether `resolveRequests(with:)` must be called.
  package var hasDirectoryRequests: Bool { host.hasDirectoryRequests }

  /// Resolves the host's queued requests with the directory that the group shares.
  package mutating func resolveRequests(with directory: inout HostDirectory, at now: Instant) {
    host.resolveRequests(with: &directory, at: now)
    handleHostEvents(at: now)
  }

  /// Removes and returns the next handoff and the index of the group member that must receive the
  /// handoff, or nil if there is none.
  package mutating func pollHandoff() -> (handoff: Handoff, member: Int)? { host.pollHandoff() }

  package mutating func receiveRelayed(_ bytes: Span<UInt8>, from source: Route, at now: Instant) {
    host.receiveRelayed(bytes, from: source, at: now)
    handleHostEvents(at: now)
  }

  package mutating func accept(
    _ handed: HandedStream, as id: ConnectionID, at now: Instant
  ) -> Bool {
    let isAccepted = host.accept(handed, as: id, at: now)
    handleHostEvents(at: now)
    return isAccepted
  }

  package mutating func evict(_ id: ConnectionID, for other: ConnectionID, at now: Instant) {
    host.evict(id, for: other, at: now)
    handleHostEvents(at: now)
  }

  package mutating func handleEvicted(for id: ConnectionID, at now: Instant) {
    host.handleEvicted(for: id, at: now)
    handleHostEvents(at: now)
  }
}
