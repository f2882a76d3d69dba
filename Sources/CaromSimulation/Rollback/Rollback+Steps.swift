import CaromCore

extension Rollback {
  // MARK: Inputs

  /// Adds the next input of a player, for the tick after that of the player's last input.
  @inlinable public mutating func addInput(_ input: Game.Input, for player: Int) {
    let tick = buffers[player].next
    buffers[player].append(input)
    correct(input, of: player, at: tick)
  }

  /// Adds the new inputs of a received run. Inputs too far ahead are ignored; the sender repeats
  /// them.
  mutating func take(_ run: [Game.Input], of player: Int, from tick: Tick) {
    var at = buffers[player].next
    buffers[player].take(run, from: tick, before: confirmed.advanced(by: Self.ahead))
    while at < buffers[player].next {
      correct(buffers[player][at], of: player, at: at)
      at = at.next
    }
  }

  /// Schedules the local player's input for `delay` ticks after the current tick. Earlier ticks
  /// without an input repeat the last one as `held`. Returns false if that tick already has an
  /// input.
  mutating func addLocalInput(_ input: Game.Input, delay: Int) -> Bool {
    guard var end = localInputs?.end else { return false }
    let target = now.advanced(by: Int64(delay))
    while end < target {
      let held = localInputs?.input(at: target) ?? Game.Input()
      localInputs?.append(held)
      end = end.next
    }
    guard end == target else { return false }
    localInputs?.append(input)
    return true
  }

  /// Confirms `count` local inputs from `tick` on: the server accepted them as they were sent.
  mutating func confirmLocalInputs(from tick: Tick, _ count: Int) throws(DecodeError) {
    guard let localInputs, tick >= localInputs.oldest,
      tick.advanced(by: Int64(count)) <= localInputs.end
    else {
      throw .invalid(what: "local inputs")
    }
    while buffers[localPlayer].end < tick.advanced(by: Int64(count)) {
      addInput(localInputs[buffers[localPlayer].end], for: localPlayer)
    }
  }

  /// Removes a player from the match: from `tick` on the player's input is the neutral one. All
  /// peers must agree on `tick`, which must not be before the confirmed tick.
  @inlinable public mutating func disconnect(player: Int, at tick: Tick) {
    precondition(tick >= confirmed, "a player cannot be disconnected before the confirmed tick")
    guard disconnectTicks[player] == nil else { return }
    disconnectTicks[player] = tick
    if tick < now { firstWrong = min(firstWrong ?? tick, tick) }
  }

  /// Marks `tick` for correction if it was simulated with a different input of this player.
  @inlinable mutating func correct(_ input: Game.Input, of player: Int, at tick: Tick) {
    guard tick < now else { return }
    if let left = disconnectTicks[player], tick >= left { return }
    guard used[slot(tick) * playerCount + player] != input else { return }
    firstWrong = min(firstWrong ?? tick, tick)
  }

  @inlinable func input(for player: Int, at tick: Tick) -> Game.Input {
    if let left = disconnectTicks[player], tick >= left { return Game.Input() }
    if player == localPlayer, tick >= buffers[player].next, let localInputs, tick < localInputs.next
    {
      return localInputs[tick]
    }
    return buffers[player].input(at: tick)
  }

  // MARK: Steps

  /// Rolls back if an input was mispredicted, then simulates one tick unless the prediction window
  /// is exhausted.
  @inlinable @discardableResult
  public mutating func advance() -> Outcome {
    if let wrong = firstWrong { rollBack(to: wrong) }
    let known = confirmableTick
    guard known.distance(to: now) < Int64(window) || now < known else {
      counts.stalls += 1
      settle(known)
      return .stalled
    }
    makeStep(at: now, again: false)
    now = now.next
    counts.steps += 1
    settle(known)
    return .stepped
  }

  /// Restores the state before `tick` and simulates the ticks since then again with the inputs
  /// known now.
  @inlinable public mutating func rollBack(to tick: Tick) {
    precondition(
      tick >= confirmed && tick < now, "only ticks that are not confirmed can be rolled back")
    firstWrong = nil
    game.copy(saves[slot(tick)])
    var at = tick
    while at < now {
      makeStep(at: at, again: true)
      at = at.next
    }
    let depth = Int(tick.distance(to: now))
    counts.rollbacks += 1
    counts.resimulatedSteps += depth
    counts.deepestRollback = max(counts.deepestRollback, depth)
  }

  @inlinable mutating func makeStep(at tick: Tick, again: Bool) {
    let slot = slot(tick)
    let base = slot * playerCount
    for player in 0..<playerCount { used[base + player] = input(for: player, at: tick) }
    saves[slot].copy(game)
    scratch.removeAll(keepingCapacity: true)
    Self.step(&game, used, base..<base + playerCount, &scratch)
    guard !scratch.isEmpty || again else {
      if !happened[slot].isEmpty { happened[slot].removeAll(keepingCapacity: true) }
      return
    }
    tell(at: tick, again: again)
  }

  @inlinable @inline(__always)
  static func step(
    _ game: inout Game, _ used: borrowing [Game.Input], _ range: Range<Int>,
    _ events: inout [Game.Event]
  ) {
    game.step(used.span.extracting(range), events: &events)
  }

  /// Emits the events that are new in a tick as predicted, and those that a resimulation no longer
  /// produced as retracted. Equal events of one tick count as one.
  @inlinable mutating func tell(at tick: Tick, again: Bool) {
    let slot = slot(tick)
    if again {
      for index in happened[slot].indices {
        guard Self.place(of: happened[slot][index], in: scratch) == nil else { continue }
        queue(.retracted(happened[slot][index], tick))
      }
    } else {
      happened[slot].removeAll(keepingCapacity: true)
    }
    for index in scratch.indices where Self.place(of: scratch[index], in: scratch) == index {
      guard Self.place(of: scratch[index], in: happened[slot]) == nil else { continue }
      queue(.predicted(scratch[index], tick))
    }
    happened[slot].removeAll(keepingCapacity: true)
    for index in scratch.indices where Self.place(of: scratch[index], in: scratch) == index {
      happened[slot].append(scratch[index])
    }
  }

  /// Queues an event for `pollEvent`; a full queue drops its oldest event, and counts it.
  @inlinable mutating func queue(_ event: RollbackEvent<Game.Event>) {
    if events.count == Self.eventLimit {
      events.popFirst()
      counts.droppedEvents += 1
    }
    events.append(event)
  }

  /// The first index of an event in a list. This is a plain loop because it must not allocate, even
  /// in debug builds.
  @inlinable static func place(of event: Game.Event, in list: borrowing [Game.Event]) -> Int? {
    var index = 0
    while index < list.count {
      if list[index] == event { return index }
      index += 1
    }
    return nil
  }

  /// Confirms every simulated tick before `known`, the first tick with a missing input: emits its
  /// events as confirmed and computes its hash.
  @inlinable mutating func settle(_ known: Tick) {
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
