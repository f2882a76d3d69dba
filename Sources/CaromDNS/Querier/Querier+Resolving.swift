import CaromCore

extension Querier {
  /// Starts resolving a service and returns the operation's id. Exactly one event follows, by
  /// `deadline`.
  package mutating func resolve(
    _ instance: Name, deadline: Instant, at now: Instant
  ) -> ResolveID {
    let id = ResolveID(number: makeNumber())
    guard resolvers.count < Self.resolverLimit else {
      emit(.unresolved(id, .tooMany))
      return id
    }
    resolverTimers.insert(id, at: deadline)
    start(Resolver(instance: instance, deadline: deadline), id, at: now)
    return id
  }

  /// Starts monitoring the endpoints of a service. A `resolved` event is reported when they are
  /// known, and again whenever they or the TXT record change. While the service cannot be resolved,
  /// no event is reported. Returns nil if `resolverLimit` operations are running.
  package mutating func monitorEndpoints(of instance: Name, at now: Instant) -> ResolveID? {
    guard resolvers.count < Self.resolverLimit else { return nil }
    let id = ResolveID(number: makeNumber())
    start(Resolver(instance: instance, deadline: nil), id, at: now)
    return id
  }

  private mutating func start(_ resolver: Resolver, _ id: ResolveID, at now: Instant) {
    resolvers[id] = resolver
    for key in resolver.keys { ask(key, for: id, at: now) }
    setNeedsEvaluation(id)
    evaluatePending(at: now)
  }

  /// Cancels a resolve operation, or stops monitoring endpoints. No event is reported for it.
  package mutating func cancelResolve(_ id: ResolveID) {
    close(id)
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
    guard resolver.deadline == nil else {
      switch outcome {
      case .resolved(let resolution): emit(.resolved(id, resolution))
      case .failed(let failure): emit(.unresolved(id, failure))
      }
      return close(id)
    }
    guard case .resolved(let resolution) = outcome,
      resolver.lastReported?.isEquivalent(to: resolution) != true
    else { return }
    resolvers[id]?.lastReported = resolution
    emit(.resolved(id, resolution))
  }

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
