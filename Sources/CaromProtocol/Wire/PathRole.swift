/// Which side of a path sends: two hosts that call each other have two paths between the same
/// endpoints, and the role tells their packets apart.
package enum PathRole: UInt8, Hashable, Sendable, CaseIterable {
  /// The side that called.
  case initiator = 0
  /// The side that was called.
  case responder = 1
}
