import CaromCore

extension Querier {
  /// Starts resolving a service. Exactly one event is reported, by `deadline`. If `instance` is not
  /// in Unicode normalization form C, the querier also asks for the composed name, since names are
  /// published in that form (RFC 6762 §16). If both names exist, the service with the name as given
  /// is resolved.
  package mutating func resolve(
    _ instance: Name, deadline: Instant, at now: Instant
  ) -> ResolveID {
    let id = ResolveID(number: makeNumber())
    guard resolvers.count < Self.resolverLimit else {
      emit(.unresolved(id, .tooMany))
      return id
    }
    start(Resolver(instance: instance, deadline: deadline), id, at: now)
    var other = Resolver(instance: instance.composed, deadline: deadline)
    if other.instance != instance, resolvers.count < Self.resolverLimit {
      other.original = id
      start(other, ResolveID(number: makeNumber()), at: now)
    }
    evaluatePending(at: now)
    return id
  }

  /// Starts monitoring the endpoints of a service. A `resolved` event is reported when they are
  /// known, and again whenever they or the TXT record change. While the service cannot be resolved,
  /// no event is reported. Returns nil if `resolverLimit` operations are running.
  package mutating func monitorEndpoints(of instance: Name, at now: Instant) -> ResolveID? {
    guard resolvers.count < Self.resolverLimit else { return nil }
    let id = ResolveID(number: makeNumber())
    start(Resolver(instance: instance, deadline: nil), id, at: now)
    evaluatePending(at: now)
    return id
  }

  private mutating func start(_ resolver: Resolver, _ id: ResolveID, at now: Instant) {
    resolvers[id] = resolver
    if let deadline = resolver.deadline { resolverTimers.insert(id, at: deadline) }
    for key in resolver.keys { ask(key, for: id, at: now) }
    setNeedsEvaluation(id)
  }

  /// Cancels a resolve operation, or stops monitoring endpoints. No event is reported for it.
  package mutating func cancelResolve(_ id: ResolveID) {
    close(id)
    if hasComposed(id) { close(id.composed) }
    dropEvents(of: id.number)
  }

  /// Marks a resolver for evaluation, because a relevant record or timer changed.
  mutating func setNeedsEvaluation(_ id: ResolveID) {
    guard resolvers[id]?.needsEvaluation == false else { return }
    resolvers[id]?.needsEvaluation = true
    pendingResolvers.append(id)
  }

  /// Evaluates the resolvers that `setNeedsEvaluation` has marked.
  mutating func evaluatePending(at now: Instant) {
    while !pendingResolvers.isEmpty {
      let round = pendingResolvers
      pendingResolvers = []
      for id in round { evaluate(id, at: now) }
    }
    if resolverTimers.count > 4 * resolvers.count + 256 {
      let resolvers = resolvers
      resolverTimers.removeAll { resolvers[$0] == nil }
    }
  }

  private mutating func evaluate(_ id: ResolveID, at now: Instant) {
    guard var resolver = resolvers[id] else { return }
    resolver.needsEvaluation = false
    let (keys, since) = (resolver.keys, resolver.addressKnownSince)
    let outcome = resolver.evaluate(cache, on: links, at: now, using: &generator)
    resolvers[id] = resolver
    for key in keys where !resolver.keys.contains(key) {
      activeQuestions.remove(.resolver(id), for: key)
    }
    for key in resolver.keys where !keys.contains(key) { ask(key, for: id, at: now) }
    guard let outcome else {
      guard resolver.addressKnownSince != since, let next = resolver.addressKnownSince else {
        return
      }
      for patience in [Resolver.familyPatience, Resolver.textPatience] {
        resolverTimers.insert(id, at: next.advanced(by: patience))
      }
      return
    }
    guard resolver.deadline == nil else { return finish(id, with: outcome, at: now) }
    guard case .resolved(let resolution) = outcome,
      resolver.lastReported?.isEquivalent(to: resolution) != true
    else { return }
    resolvers[id]?.lastReported = resolution
    emit(.resolved(id, resolution))
  }

  /// Ends an operation and reports its outcome. If two operations look for the service, one under
  /// its name as given and one under its composed name, only one event is reported for both: a
  /// result under the composed name waits up to `Resolver.nameGracePeriod` for a result under the
  /// name as given, and a failure is reported only if both operations fail.
  private mutating func finish(_ id: ResolveID, with outcome: Resolver.Outcome, at now: Instant) {
    guard let resolver = resolvers[id] else { return }
    close(id)
    if let original = resolver.original, resolvers[original] != nil {
      guard case .resolved(let resolution) = outcome else { return }
      let end = now.advanced(by: Resolver.nameGracePeriod)
      resolvers[original]?.composedResult = resolution
      resolvers[original]?.deadline = min(resolver.deadline ?? end, end)
      resolverTimers.insert(original, at: end)
      return
    }
    switch outcome {
    case .resolved(let resolution):
      if hasComposed(id) { close(id.composed) }
      emit(.resolved(resolver.original ?? id, resolution))
    case .failed(let failure):
      if let resolution = resolver.composedResult { return emit(.resolved(id, resolution)) }
      if !hasComposed(id) { emit(.unresolved(resolver.original ?? id, failure)) }
    }
  }

  private func hasComposed(_ id: ResolveID) -> Bool { resolvers[id.composed]?.original == id }

  /// Asks a resolver's question. If the question is already active but unanswered, its next query
  /// is sent early instead of at the end of its interval.
  private mutating func ask(_ key: RecordKey, for id: ResolveID, at now: Instant) {
    let isNew = activeQuestions[key] == nil
    open(key, for: .resolver(id), at: now)
    guard !isNew, !isAnswered(key) else { return }
    let start = makeStart(at: now)
    let denied = links.map(\.index).filter { isDenied(key, on: $0) }
    activeQuestions.modify(key) { question in
      for index in question.schedules.indices where !denied.contains(question.schedules[index].link)
      {
        question.schedules[index].refresh(at: start)
      }
    }
  }

  private mutating func close(_ id: ResolveID) {
    guard let resolver = resolvers.removeValue(forKey: id) else { return }
    for key in resolver.keys { activeQuestions.remove(.resolver(id), for: key) }
  }
}

extension ResolveID {
  /// The operation that looks for the service under the composed name, if there is one: `resolve`
  /// gives it the number after this operation's.
  fileprivate var composed: ResolveID { ResolveID(number: number + 1) }
}
