import CaromCore

extension Rollback {
  // MARK: Inputs

  /// Adds a player's next input: of the tick after that of the last one.
  @inlinable public mutating func addInput(_ input: Game.Input, for player: Int) {
    let tick = buffers[player].next
    buffers[player].append(input)
    correct(input, of: player, at: tick)
  }

  /// Keeps the inputs of a packet that are new; those too far ahead come again.
  mutating func take(_ run: [Game.Input], of player: Int, from tick: Tick) {
    var at = buffers[player].next
    buffers[player].take(run, from: tick, before: confirmed.advanced(by: Self.ahead))
    while at < buffers[player].next {
      correct(buffers[player][at], of: player, at: at)
      at = at.next
    }
  }

  /// Gives the local player's input a tick, `delay` after the present one; the ticks before it that
  /// have none hold the last one. False where that tick has its input already.
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

  /// The next input of the local player was decided: it is the one that was made here.
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

  /// From `tick` on the player does nothing: it left. All peers have to agree on the tick, which
  /// is not before one that is confirmed.
  @inlinable public mutating func disconnect(player: Int, at tick: Tick) {
    precondition(tick >= confirmed, "what is confirmed does not change")
    guard disconnectTicks[player] == nil else { return }
    disconnectTicks[player] = tick
    if tick < now { firstWrong = min(firstWrong ?? tick, tick) }
  }

  /// Notes a tick that was made with another input than this.
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

  /// Corrects the past, then makes one tick, where the window allows it.
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

  /// Makes the steps from `tick` on again, whatever was used in them.
  @inlinable public mutating func rollBack(to tick: Tick) {
    precondition(tick >= confirmed && tick < now, "only what is not confirmed can change")
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

  /// Tells what is new in a tick, and what did not happen after all. Equal events of one tick
  /// count as one.
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

  /// Where an event stands first: a plain loop, which allocates nothing in any build.
  @inlinable static func place(of event: Game.Event, in list: borrowing [Game.Event]) -> Int? {
    var index = 0
    while index < list.count {
      if list[index] == event { return index }
      index += 1
    }
    return nil
  }

  /// Everything before the first tick with a missing input is final.
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
