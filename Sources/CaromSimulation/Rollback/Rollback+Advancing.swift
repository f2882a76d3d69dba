import CaromCore

extension Rollback {
  /// Rolls back if an input was mispredicted, then simulates one tick unless the prediction window
  /// is exhausted. Returns whether the tick was simulated.
  @inlinable @discardableResult
  public mutating func advance() -> Outcome {
    if let wrong = firstWrong { rollBack(to: wrong) }
    let known = confirmableTick
    guard known.distance(to: now) < Int64(window) || now < known else {
      counts.stalls += 1
      confirm(before: known)
      return .stalled
    }
    simulate(at: now, isResimulation: false)
    now = now.next
    counts.steps += 1
    confirm(before: known)
    return .stepped
  }

  /// Restores the state before `tick`, and simulates the ticks since then again with the inputs
  /// that are now known.
  @inlinable public mutating func rollBack(to tick: Tick) {
    precondition(
      tick >= confirmed && tick < now, "only ticks that are not confirmed can be rolled back")
    firstWrong = nil
    game.copy(saves[slot(tick)])
    var at = tick
    while at < now {
      simulate(at: at, isResimulation: true)
      at = at.next
    }
    let depth = Int(tick.distance(to: now))
    counts.rollbacks += 1
    counts.resimulatedSteps += depth
    counts.deepestRollback = max(counts.deepestRollback, depth)
  }

  @inlinable mutating func simulate(at tick: Tick, isResimulation: Bool) {
    let slot = slot(tick)
    let base = slot * playerCount
    for player in 0..<playerCount { used[base + player] = input(for: player, at: tick) }
    saves[slot].copy(game)
    scratch.removeAll(keepingCapacity: true)
    Self.step(&game, used, base..<base + playerCount, &scratch)
    guard !scratch.isEmpty || isResimulation else {
      if !happened[slot].isEmpty { happened[slot].removeAll(keepingCapacity: true) }
      return
    }
    emitEvents(at: tick, isResimulation: isResimulation)
  }

  @inlinable @inline(__always)
  static func step(
    _ game: inout Game, _ used: borrowing [Game.Input], _ range: Range<Int>,
    _ events: inout [Game.Event]
  ) {
    game.step(used.span.extracting(range), events: &events)
  }

  /// Emits a `predicted` event for each new event of a tick, and a `retracted` event for each
  /// previously emitted event of the tick that a resimulation did not produce again. Equal events
  /// of one tick count as one.
  @inlinable mutating func emitEvents(at tick: Tick, isResimulation: Bool) {
    let slot = slot(tick)
    if isResimulation {
      for index in happened[slot].indices {
        guard Self.firstIndex(of: happened[slot][index], in: scratch) == nil else { continue }
        queue(.retracted(happened[slot][index], tick))
      }
    } else {
      happened[slot].removeAll(keepingCapacity: true)
    }
    for index in scratch.indices where Self.firstIndex(of: scratch[index], in: scratch) == index {
      guard Self.firstIndex(of: scratch[index], in: happened[slot]) == nil else { continue }
      queue(.predicted(scratch[index], tick))
    }
    happened[slot].removeAll(keepingCapacity: true)
    for index in scratch.indices where Self.firstIndex(of: scratch[index], in: scratch) == index {
      happened[slot].append(scratch[index])
    }
  }

  /// Queues an event for `pollEvent`. If the queue is full, its oldest event is dropped and
  /// counted.
  @inlinable mutating func queue(_ event: RollbackEvent<Game.Event>) {
    if events.count == Self.eventLimit {
      events.popFirst()
      counts.droppedEvents += 1
    }
    events.append(event)
  }

  /// Returns the first index of an event in a list, or nil if the list does not contain it. The
  /// search is a plain loop because it must not allocate, even in debug builds.
  @inlinable static func firstIndex(of event: Game.Event, in list: borrowing [Game.Event]) -> Int? {
    var index = 0
    while index < list.count {
      if list[index] == event { return index }
      index += 1
    }
    return nil
  }

  /// Confirms every simulated tick before `known`, the first tick with a missing input: emits the
  /// tick's events as confirmed and computes the hash of the resulting state.
  @inlinable mutating func confirm(before known: Tick) {
    let end = min(known, now)
    while confirmed < end {
      for index in happened[slot(confirmed)].indices {
        queue(.confirmed(happened[slot(confirmed)][index], confirmed))
      }
      confirmed = confirmed.next
      hashes[slot(confirmed)] = confirmed == now ? game.hash : saves[slot(confirmed)].hash
      hashedThrough = confirmed
    }
  }
}
