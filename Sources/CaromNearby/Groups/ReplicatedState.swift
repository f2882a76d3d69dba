import CaromCore
import CaromGroup

/// A state that all members of a group share: every member applies the same events in the same
/// order, and so has the same state.
///
/// ```swift
/// struct Votes: ReplicatedState {
///   var count: [String: Int] = [:]
///
///   mutating func apply(_ candidate: String, _ entry: LedgerEntry) {
///     count[candidate, default: 0] += 1
///   }
/// }
/// ```
///
/// The state and its events are encoded as CBOR: an event has at most 16,384 bytes then, and the
/// state at most 16 MiB and 1,048,576 values. A member that joins late receives the state.
public protocol ReplicatedState: Codable, Sendable {
  /// What changes the state.
  associatedtype Event: Codable & Sendable

  /// Applies the next event. All members begin with equal states and must end with equal states, so
  /// the change may depend on nothing but the state, the event and the entry; an event that the
  /// rules do not allow must be ignored here, on every member alike.
  ///
  /// Called on the session's loop, so it must not block. `entry` says who submitted the event.
  mutating func apply(_ event: Event, _ entry: LedgerEntry)
}
