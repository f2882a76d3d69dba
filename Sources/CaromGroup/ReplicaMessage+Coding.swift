import CaromCore

extension ReplicaMessage {
  /// Reads a message that has arrived on a channel. Returns nil if it cannot be decoded, or if the
  /// channel is none of the three.
  package init?(decoding bytes: Span<UInt8>, on channel: GroupChannel) {
    do throws(DecodeError) {
      switch channel {
      case .roster: self = .roster(try Roster(decoding: bytes))
      case .election: self = .ballot(try Ballot(decoding: bytes))
      case .ledger: self = .ledger(try LedgerMessage(decoding: bytes))
      default: return nil
      }
    } catch { return nil }
  }

  /// The channel that carries the message.
  package var channel: GroupChannel {
    switch self {
    case .roster: .roster
    case .ballot: .election
    case .ledger: .ledger
    }
  }

  /// The message in its wire format.
  package var encoded: [UInt8] {
    switch self {
    case .roster(let roster): roster.encoded
    case .ballot(let ballot): ballot.encoded
    case .ledger(let message): message.encoded
    }
  }
}
