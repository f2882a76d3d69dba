import CaromCore

extension Querier {
  /// Learns where a service listens, until `deadline`: exactly one event follows.
  package mutating func resolve(
    _ instance: Name, deadline: Instant, at now: Instant
  ) -> ResolveID {
    let id = ResolveID(number: makeNumber())
    guard resolvers.count < Self.resolverLimit else {
      emit(.unresolved(id, .tooMany))
      return id
    }
    let resolver = Resolver(instance: instance, deadline: deadline)
    resolvers[id] = resolver
    resolverTimers.insert(id, at: deadline)
    for key in resolver.keys { ask(key, for: id, at: now) }
    touch(id)
    evaluateTouched(at: now)
    return id
  }

  /// Gives up: no event follows.
  package mutating func cancelResolve(_ id: ResolveID) {
    close(id)
    dropEvents(of: id.number)
  }

  /// A resolver has to look again at what is known.
  mutating func touch(_ id: ResolveID) {
    guard resolvers[id]?.isTouched == false else { return }
    resolvers[id]?.isTouched = true
    touched.append(id)
  }

  /// Lets those resolvers look for which something came.
  mutating func evaluateTouched(at now: Instant) {
    while !touched.isEmpty {
      let round = touched
      touched = []
      for id in round { evaluate(id, at: now) }
    }
    if resolverTimers.count > 4 * resolvers.count + 256 {
      let resolvers = resolvers
      resolverTimers.removeAll { resolvers[$0] == nil }
    }
  }

  private mutating func evaluate(_ id: ResolveID, at now: Instant) {
    guard var resolver = resolvers[id] else { return }
    resolver.isTouched = false
    let before = resolver.keys.count
    let settlesAt = resolver.settlesAt
    let outcome = resolver.evaluate(cache, on: links, at: now, using: &generator)
    resolvers[id] = resolver
    for key in resolver.keys[before...] { ask(key, for: id, at: now) }
    switch outcome {
    case .resolved(let resolution): emit(.resolved(id, resolution))
    case .failed(let failure): emit(.unresolved(id, failure))
    case nil:
      if resolver.settlesAt != settlesAt, let next = resolver.settlesAt {
        resolverTimers.insert(id, at: next)
      }
      return
    }
    close(id)
  }

  /// Has a question asked soon, even where others wait long already.
  private mutating func ask(_ key: RecordKey, for id: ResolveID, at now: Instant) {
    let isNew = inquiries[key] == nil
    open(key, for: .resolver(id), at: now)
    guard !isNew, !isAnswered(key) else { return }
    let start = makeStart(at: now)
    let denied = links.map(\.index).filter { isDenied(key, on: $0) }
    inquiries.modify(key) { inquiry in
      for index in inquiry.series.indices where !denied.contains(inquiry.series[index].link) {
        inquiry.series[index].refresh(at: start)
      }
    }
  }

  private mutating func close(_ id: ResolveID) {
    guard let resolver = resolvers.removeValue(forKey: id) else { return }
    for key in resolver.keys { inquiries.remove(.resolver(id), for: key) }
  }
}
