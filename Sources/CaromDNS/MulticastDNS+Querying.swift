import CaromCore

// MARK: - Querying

extension MulticastDNS {
  /// Browses for `target`. Returns nil if `Querier.browseLimit` browse operations are already
  /// running. Targets from outside the program must be checked with `target.name()` first.
  package mutating func browse(_ target: BrowseTarget, at now: Instant) -> BrowseID? {
    querier.browse(target, at: now)
  }

  /// Stops a browse operation. No event follows.
  package mutating func stopBrowsing(_ id: BrowseID) { querier.stopBrowsing(id) }

  /// Resolves the addresses, the port and the TXT record of a service. Exactly one event follows,
  /// by `deadline`.
  package mutating func resolve(
    _ instance: Name, deadline: Instant, at now: Instant
  ) -> ResolveID {
    querier.resolve(instance, deadline: deadline, at: now)
  }

  /// Monitors the endpoints of a service. Returns nil if `Querier.resolverLimit` operations are
  /// running.
  package mutating func monitorEndpoints(of instance: Name, at now: Instant) -> ResolveID? {
    querier.monitorEndpoints(of: instance, at: now)
  }

  /// Cancels a resolve operation, or stops monitoring endpoints. No event is reported for it.
  package mutating func cancelResolve(_ id: ResolveID) { querier.cancelResolve(id) }

  /// Monitors the TXT record of a service. Returns nil if `Querier.monitorLimit` monitors are
  /// already running.
  package mutating func monitorText(of instance: Name, at now: Instant) -> MonitorID? {
    querier.monitorText(of: instance, at: now)
  }

  /// Stops a TXT record monitor.
  package mutating func stopMonitoring(_ id: MonitorID) { querier.stopMonitoring(id) }

  /// Queries for records of any type. Returns nil if `Querier.queryLimit` queries are already
  /// running.
  package mutating func query(_ name: Name, _ type: RecordType, at now: Instant) -> QueryID? {
    querier.query(name, type, at: now)
  }

  /// Stops a query that `query` started. No event follows.
  package mutating func stopQuery(_ id: QueryID) { querier.stopQuery(id) }

  /// Returns the cached records of a name and type. No query is sent.
  package func cachedRecords(_ name: Name, _ type: RecordType, at now: Instant) -> [CachedRecord] {
    querier.cachedRecords(name, type, at: now)
  }

  /// Queries for the records of a service that does not respond, and removes the records after ten
  /// seconds unless they are received again.
  package mutating func reconfirm(_ instance: Name, at now: Instant) {
    querier.reconfirm(instance, at: now)
  }

  /// Queries for a record that seems to be stale, and removes the record after ten seconds unless
  /// it is received again.
  package mutating func reconfirm(_ record: Record, at now: Instant) {
    querier.reconfirm(record, at: now)
  }

  /// Restarts all questions on `link`, or on every link if `link` is nil, as if the link were new,
  /// for example after the machine wakes or a cable is plugged back in. Records that are not
  /// received again within ten seconds are removed.
  package mutating func restartQuestions(on link: UInt32?, at now: Instant) {
    querier.restartQuestions(on: link, at: now)
  }

  /// Whether `pollEvent` still has querier events to return.
  package var hasMoreEvents: Bool { querier.hasMoreEvents }
}
