import CaromTransport
import Dispatch
import Foundation

/// The engines that are on the network. When the process exits in the normal way, they say goodbye,
/// so that other peers need not wait until this one has been silent for long enough.
enum RunningEngines {
  /// The time that the goodbyes of all engines may take when the process exits.
  private static let exitLimit = DispatchTimeInterval.seconds(2)

  private static let engines = Locked<[ObjectIdentifier: PeerEngine]>([:])
  private static let group = DispatchGroup()
  private static let registration: Void = { atexit { RunningEngines.endAll() } }()

  static func insert(_ engine: PeerEngine) {
    registration
    group.enter()
    engines.withLock { $0[ObjectIdentifier(engine)] = engine }
  }

  static func remove(_ engine: PeerEngine) {
    engines.withLock { $0[ObjectIdentifier(engine)] = nil }
    group.leave()
  }

  private static func endAll() {
    for engine in engines.withLock({ Array($0.values) }) { engine.post { $0.stop() } }
    _ = group.wait(timeout: .now() + exitLimit)
  }
}
