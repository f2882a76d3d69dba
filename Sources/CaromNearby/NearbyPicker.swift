import CaromCore
import CaromDiscovery
import CaromGroup

/// The model of a list from which a person picks peers: those that are visible, and what has become
/// of their invitations. It has no face; an application shows `rows` as it likes.
///
/// `NearbySession.pick` runs a picker on the network.
public struct NearbyPicker: Sendable {
  /// What a person can do with a picker.
  public enum Choice: Hashable, Sendable {
    /// Invite a peer of the list.
    case invite(PeerID)
    /// End the picking, if enough peers have joined.
    case finish
    /// Give up.
    case cancel
  }

  /// What has become of a peer's invitation.
  public enum State: Hashable, Sendable {
    /// The peer can be invited.
    case visible
    /// The peer has been invited and has not answered.
    case invited
    /// The peer has joined.
    case joined
    /// The invitation has ended without joining. The peer can be invited again.
    case ended(InvitationResult)
  }

  /// A peer of the list.
  public struct Row: Hashable, Sendable {
    /// The peer.
    public let peer: NearbyPeer
    /// What has become of its invitation.
    public var state: State
  }

  /// The number of peers that have to join, and the number that may, not counting this side.
  public let limits: ClosedRange<Int>
  /// The peers in the order of their names. A peer that has joined stays in the list when it is no
  /// longer visible.
  public private(set) var rows: [Row] = []
  private let isShown: @Sendable (NearbyPeer) -> Bool
  private var gone: Set<PeerID> = []

  /// Creates a picker without peers.
  ///
  /// - Parameters:
  ///   - limits: The number of peers that have to join, and the number that may join.
  ///   - isShown: Says for each visible peer whether it is in the list.
  public init(
    _ limits: ClosedRange<Int> = 1...7,
    where isShown: @escaping @Sendable (NearbyPeer) -> Bool = { _ in true }
  ) {
    precondition(limits.lowerBound >= 0, "the number of peers is 0 or more")
    self.limits = limits
    self.isShown = isShown
  }

  /// The number of peers that have joined.
  public var joinedCount: Int { rows.count { $0.state == .joined } }
  /// Whether enough peers have joined to finish, and not too many: peers can also join by their own
  /// invitations.
  public var canFinish: Bool { limits.contains(joinedCount) }

  /// Whether a peer can be invited: it is in the list, is neither invited nor joined, and there is
  /// room for it.
  public func canInvite(_ peer: PeerID) -> Bool {
    guard let index = index(of: peer) else { return false }
    let taken = rows.count { $0.state == .joined || $0.state == .invited }
    return taken < limits.upperBound && rows[index].state != .joined
      && rows[index].state != .invited
  }

  private func index(of peer: PeerID) -> Int? { rows.firstIndex { $0.peer.id == peer } }
}

// MARK: - What happens
extension NearbyPicker {
  /// A peer has appeared, changed its description, or disappeared.
  public mutating func handle(_ change: DiscoveryChange<NearbyPeer>) {
    let peer = change.item
    let state = index(of: peer.id).map { rows.remove(at: $0).state }
    if case .removed = change {
      guard state == .joined else { return }
      gone.insert(peer.id)
      return insert(Row(peer: peer, state: .joined))
    }
    gone.remove(peer.id)
    if state == .joined || isShown(peer) { insert(Row(peer: peer, state: state ?? .visible)) }
  }

  /// Marks a peer as invited. Returns false, and changes nothing, if it cannot be invited.
  public mutating func invite(_ peer: PeerID) -> Bool {
    guard canInvite(peer), let index = index(of: peer) else { return false }
    rows[index].state = .invited
    return true
  }

  /// The invitation of a peer has ended.
  public mutating func handleEnd(of peer: PeerID, _ result: InvitationResult) {
    guard let index = index(of: peer), rows[index].state == .invited else { return }
    rows[index].state = result == .accepted ? .joined : .ended(result)
  }

  /// A peer has joined, by its own invitation or by one of this side.
  public mutating func handleJoined(_ peer: NearbyPeer) {
    if let index = index(of: peer.id) {
      rows[index].state = .joined
    } else {
      gone.insert(peer.id)
      insert(Row(peer: peer, state: .joined))
    }
  }

  /// A peer that had joined has left.
  public mutating func handleLeft(_ peer: PeerID) {
    guard let index = index(of: peer), rows[index].state == .joined else { return }
    rows[index].state = .visible
    if gone.remove(peer) != nil { rows.remove(at: index) }
  }

  private mutating func insert(_ row: Row) {
    let place = rows.firstIndex { (row.peer.name, row.peer.id) < ($0.peer.name, $0.peer.id) }
    rows.insert(row, at: place ?? rows.count)
  }
}
