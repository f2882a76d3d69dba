import CaromCore

/// The strangers among a host's connections: the accepted ones whose peers have neither requested a
/// seat nor joined another connection yet. A stranger has proven at most its address, so the number
/// of strangers is limited, and so is the number of those that come from the same source.
struct Strangers {
  /// The kind of link on which a stranger has arrived.
  enum Link { case stream, datagrams }

  /// What to do with a new stranger.
  enum Answer: Hashable {
    case accept
    /// Accept the new stranger, and drop this one, which was the oldest, because of a limit.
    case replace(ConnectionID, Limit)
    case refuse(Limit)
  }

  /// The limits that a new stranger can exceed.
  enum Limit: Hashable {
    /// `streamLimit` or `handshakeLimit`, whichever holds for the link.
    case kind
    /// `sourceLimit`.
    case source
  }

  /// The maximum number of strangers on streams.
  static let streamLimit = 512
  /// The maximum number of strangers over datagrams, whose handshakes are half open.
  static let handshakeLimit = 1024
  /// The maximum number of strangers that come from one source, on each kind of link. The limit
  /// does not hold for this computer, whose processes share its addresses.
  static let sourceLimit = 32
  /// The time for which a stranger cannot be replaced by one of the same source, which is refused
  /// instead. Many players behind one address can therefore join at the same time: over datagrams,
  /// those who are refused repeat their hellos.
  static let patience = Duration.seconds(1)

  private struct Stranger {
    let id: ConnectionID
    let source: SourcePrefix?
    let arrival: Instant
  }

  /// The strangers on one kind of link, oldest first. There are few enough to search all of them.
  private struct Group {
    var strangers: [Stranger] = []

    mutating func add(_ new: Stranger, limit: Int) -> Answer {
      var (oldest, exceeded): (Int?, Limit) = (nil, .source)
      if let source = new.source,
        strangers.lazy.filter({ $0.source == source }).count >= Strangers.sourceLimit
      {
        oldest = strangers.firstIndex { $0.source == source }
        if let oldest, new.arrival - strangers[oldest].arrival < Strangers.patience {
          return .refuse(.source)
        }
      } else if strangers.count >= limit {
        (oldest, exceeded) = (0, .kind)
      }
      strangers.append(new)
      return oldest.map { .replace(strangers.remove(at: $0).id, exceeded) } ?? .accept
    }
  }

  private var onStreams = Group()
  private var overDatagrams = Group()

  /// The number of strangers on a kind of link.
  func count(_ link: Link) -> Int {
    link == .stream ? onStreams.strangers.count : overDatagrams.strangers.count
  }

  /// Adds a stranger that came from `address`, unless the answer is to refuse it.
  mutating func add(
    _ id: ConnectionID, from address: IPAddress, _ link: Link, at now: Instant
  ) -> Answer {
    let new = Stranger(id: id, source: SourcePrefix(address), arrival: now)
    return switch link {
    case .stream: onStreams.add(new, limit: Self.streamLimit)
    case .datagrams: overDatagrams.add(new, limit: Self.handshakeLimit)
    }
  }

  /// Removes a connection that is no longer a stranger, or that has ended.
  mutating func remove(_ id: ConnectionID) {
    onStreams.strangers.removeAll { $0.id == id }
    overDatagrams.strangers.removeAll { $0.id == id }
  }
}
