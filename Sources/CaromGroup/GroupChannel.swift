import CaromProtocol

/// The channels of a connection that the group's protocols reserve. An application whose session is
/// one of nearby peers uses channels 0 to 55.
package enum GroupChannel: UInt8, CaseIterable, Sendable {
  /// The selection of one connection for each pair of peers, and invitations.
  case mesh = 56
  /// The list of the group's members.
  case roster = 57
  /// The election of the group's leader.
  case election = 58
  /// The events that the leader puts in one order for all members.
  case ledger = 59
  /// Offers of files, their answers and their ends.
  case transfers = 60
  /// The pieces of files.
  case pieces = 61
  /// The beginnings, ends and credit of byte streams.
  case streams = 62
  /// The bytes of byte streams.
  case streamBytes = 63

  /// The first reserved channel. All channels from this one to 63 are reserved.
  package static let first: UInt8 = 56
  /// The delivery guarantee of the channel's messages.
  package var delivery: Delivery { .reliableOrdered }

  /// The channel's priority, from 0 (first) to 7 (last): the messages that hold the group together
  /// are sent before those of the application, and files after everything else.
  package var priority: UInt8 {
    switch self {
    case .mesh, .roster, .election: 1
    case .ledger: 3
    case .transfers, .streams, .streamBytes: 6
    case .pieces: 7
    }
  }
}
