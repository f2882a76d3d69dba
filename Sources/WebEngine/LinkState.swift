import CaromSimulation

/// How far a match over the network has come.
package enum LinkState: UInt8, Hashable, Sendable {
  /// The match needs no network.
  case none = 0
  /// The host has not granted a seat yet.
  case connecting = 1
  /// The host's first state has not arrived yet.
  case waiting = 2
  /// The match is played.
  case playing = 3
  /// No link carries the connection; it waits to be resumed.
  case interrupted = 4
  /// The connection has ended.
  case ended = 5
}

extension PageClient {
  /// How far the match has come.
  package var linkState: LinkState {
    if endReason != nil { return .ended }
    if peer == nil { return .connecting }
    if isInterrupted { return .interrupted }
    return client.rollback == nil ? .waiting : .playing
  }
}
