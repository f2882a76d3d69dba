import CaromCore

// MARK: - Intents of the asking side

extension MulticastDNS {
  /// Watches for what `target` names; check `target.name()` first where it comes from outside.
  /// `nil` where there are `Querier.browseLimit` browsings.
  package mutating func browse(_ target: BrowseTarget, at now: Instant) -> BrowseID? {
    querier.browse(target, at: now)
  }

  /// Watches for services of a type; at most `Querier.browseLimit` at a time.
  package mutating func browse(_ type: ServiceType, at now: Instant) -> BrowseID {
    guard let id = querier.browse(.services(type), at: now) else {
      preconditionFailure("at most \(Querier.browseLimit) browsings at a time")
    }
    return id
  }

  /// Stops watching.
  package mutating func stopBrowsing(_ id: BrowseID) { querier.stopBrowsing(id) }

  /// Learns where a service listens, until `deadline`: exactly one event follows.
  package mutating func resolve(
    _ instance: Name, deadline: Instant, at now: Instant
  ) -> ResolveID {
    querier.resolve(instance, deadline: deadline, at: now)
  }

  /// Gives up resolving.
  package mutating func cancelResolve(_ id: ResolveID) { querier.cancelResolve(id) }

  /// Watches the strings of a service; `nil` where there are `Querier.monitorLimit`.
  package mutating func monitorText(of instance: Name, at now: Instant) -> MonitorID? {
    querier.monitorText(of: instance, at: now)
  }

  /// Watches them no more.
  package mutating func stopMonitoring(_ id: MonitorID) { querier.stopMonitoring(id) }

  /// Asks for records of any type; `nil` where there are `Querier.queryLimit` queries.
  package mutating func query(_ name: Name, _ type: RecordType, at now: Instant) -> QueryID? {
    querier.query(name, type, at: now)
  }

  /// Asks for them no more.
  package mutating func stopQuery(_ id: QueryID) { querier.stopQuery(id) }

  /// What is known now, without a question.
  package func cachedRecords(_ name: Name, _ type: RecordType, at now: Instant) -> [CachedRecord] {
    querier.cachedRecords(name, type, at: now)
  }

  /// A service does not answer: ask again, and forget it in ten seconds if it stays silent.
  package mutating func reconfirm(_ instance: Name, at now: Instant) {
    querier.reconfirm(instance, at: now)
  }

  /// A record seems to be wrong: ask again, and forget it in ten seconds if nobody repeats it.
  package mutating func reconfirm(_ record: Record, at now: Instant) {
    querier.reconfirm(record, at: now)
  }

  /// Asks everything again, as on a link that is new: after a sleep, or when a cable came back.
  /// What nobody repeats within ten seconds is gone. `nil` for every link.
  package mutating func restartQuestions(on link: UInt32?, at now: Instant) {
    querier.restartQuestions(on: link, at: now)
  }

  /// Whether more events belong to what the last call brought: `pollEvent` gives them before
  /// anything else happens.
  package var hasMoreEvents: Bool { querier.hasMoreEvents }
}
