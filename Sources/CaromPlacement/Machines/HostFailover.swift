import CaromCore

/// The machine of a player whose host may die: when the player has heard nothing for 2 seconds, it
/// asks a door of the fleet where the match is, and goes there. Its host tells it the doors.
///
/// After each call of a mutating method, poll the actions until there are none.
package struct HostFailover: Sendable {
  package enum Action: Hashable, Sendable {
    /// Ask this door where the match is.
    case ask(RoutedEndpoint)
    /// Join the host that the connect token names.
    case join(token: [UInt8])
    /// The match is over, with this result if the door has told it.
    case end(result: [UInt8]?)
    /// The match cannot go on: no host could take it over for a minute, for this reason, or it
    /// never will. If there is no refusal, no door has answered.
    case giveUp(PlacementRefusal?)
  }

  /// What a door answers.
  package enum DoorAnswer: Hashable, Sendable {
    /// The match is where the player thinks.
    case stay
    /// The match is at another host, or is now.
    case moved(token: [UInt8])
    /// The match is over, with this result if the door tells it.
    case over(result: [UInt8]?)
    case refused(PlacementRefusal)
  }

  private enum State: Hashable, Sendable {
    case playing(lastHeard: Instant)
    case asking(until: Instant, since: Instant)
    case waiting(until: Instant, since: Instant)
    case ended
  }

  /// How long the player waits for an answer before it asks the next door, and before it asks
  /// again.
  static let askInterval = Duration.seconds(1)
  /// How long a match may be unknown. A directory that has lost all that it knew hears of it again
  /// when the match's host has registered.
  static let unknownLimit = PlacementRules.silence + PlacementRules.lease + PlacementRules.lease

  /// The doors that the player knows.
  package private(set) var doors: [RoutedEndpoint]
  private var nextDoor: Int
  private var state: State
  /// Why a door could not help when one was asked last.
  private var refusal: PlacementRefusal?
  private var actions = Deque<Action>()

  /// Creates the machine of a player who has just joined. The player asks the door at `first`
  /// first, so that not all players ask the same one.
  package init(doors: [RoutedEndpoint] = [], startingWith first: Int = 0, at now: Instant) {
    self.doors = []
    nextDoor = 0
    state = .playing(lastHeard: now)
    setDoors(doors, startingWith: first)
  }

  /// Sets the doors that the player asks from now on, the one at `first` first.
  package mutating func setDoors(_ doors: [RoutedEndpoint], startingWith first: Int = 0) {
    precondition(
      doors.isEmpty ? first == 0 : doors.indices.contains(first), "the first door is one of them")
    self.doors = doors
    nextDoor = first
  }

  package mutating func pollAction() -> Action? { actions.popFirst() }

  /// Whether the player asks doors, because it hears nothing from its host.
  package var isAsking: Bool {
    switch state {
    case .asking, .waiting: true
    case .playing, .ended: false
    }
  }

  package var nextTimeout: Instant? {
    switch state {
    case .playing(let lastHeard): lastHeard + PlacementRules.silence
    case .asking(let until, _), .waiting(let until, _): until
    case .ended: nil
    }
  }

  /// Reports that something has come from the host. If the player asked a door, the answer does not
  /// matter any more.
  package mutating func heard(at now: Instant) {
    guard state != .ended else { return }
    state = .playing(lastHeard: now)
    refusal = nil
  }

  /// Reports that the player is at no host, because it has lost the one at which it was, or could
  /// not join the one to which a door has sent it. It asks again soon, or gives up if it knows no
  /// door.
  package mutating func lost(at now: Instant) {
    if state != .ended, doors.isEmpty { return end(.giveUp(nil)) }
    guard case .waiting(let until, let since) = state else { return }
    state = .waiting(until: min(until, now + Self.askInterval), since: since)
  }

  package mutating func handleTimeout(at now: Instant) {
    guard let deadline = nextTimeout, deadline <= now else { return }
    switch state {
    case .playing(let lastHeard): ask(since: lastHeard, at: now)
    case .asking(_, let since), .waiting(_, let since): ask(since: since, at: now)
    case .ended: break
    }
  }

  package mutating func handle(_ answer: DoorAnswer, at now: Instant) {
    guard case .asking(_, let since) = state else { return }
    switch answer {
    case .stay: state = .waiting(until: now + Self.askInterval, since: since)
    case .moved(let token):
      actions.append(.join(token: token))
      state = .waiting(until: now + PlacementRules.silence, since: since)
    case .over(let result): end(.end(result: result))
    case .refused(let refusal) where canPass(refusal, since: since, at: now):
      self.refusal = refusal
      state = .waiting(until: now + Self.askInterval, since: since)
    case .refused(let refusal): end(.giveUp(refusal))
    }
  }

  private func canPass(_ refusal: PlacementRefusal, since: Instant, at now: Instant) -> Bool {
    switch refusal {
    case .noRoom, .noSuchVersion: true
    case .unknownMatch: now < since + Self.unknownLimit
    case .otherVersion, .matchIsOver, .tooManyPlayers, .otherKey: false
    }
  }

  private mutating func ask(since: Instant, at now: Instant) {
    guard now < since + PlacementRules.afterlife else { return end(.giveUp(refusal)) }
    // The player may be told a door later.
    if !doors.isEmpty {
      actions.append(.ask(doors[nextDoor]))
      nextDoor = (nextDoor + 1) % doors.count
    }
    state = .asking(until: now + Self.askInterval, since: since)
  }

  private mutating func end(_ action: Action) {
    actions.append(action)
    state = .ended
  }
}
