import CaromCore

/// Identifies a TXT record monitor of a querier.
package struct MonitorID: Hashable, Sendable {
  let number: UInt64
}

/// Identifies a record query of a querier.
package struct QueryID: Hashable, Sendable {
  let number: UInt64
}

// MARK: - Records of any type

extension Querier {
  /// Starts a query for the records of a name and type, and reports matching cached records
  /// immediately. The type `any` matches all types. Returns nil if `queryLimit` queries are already
  /// running.
  package mutating func query(_ name: Name, _ type: RecordType, at now: Instant) -> QueryID? {
    guard queries.count < Self.queryLimit else { return nil }
    let id = QueryID(number: makeNumber())
    let key = RecordKey(name, type)
    queries[id] = key
    open(key, for: .query(id), at: now)
    for link in links {
      for entry in entries(key, on: link.index) {
        emit(.recordAdded(id, entry.record, interface: link.index))
      }
      if isDenied(key, on: link.index) { emit(.recordDenied(id, interface: link.index)) }
    }
    return id
  }

  /// Stops a query. No further events are reported for it.
  package mutating func stopQuery(_ id: QueryID) {
    guard let key = queries.removeValue(forKey: id) else { return }
    activeQuestions.remove(.query(id), for: key)
    dropEvents(of: id.number)
  }

  /// Returns the cached records of a name and type. The type `any` matches all types. No query is
  /// sent.
  package func cachedRecords(_ name: Name, _ type: RecordType, at now: Instant) -> [CachedRecord] {
    links.flatMap { link in
      entries(RecordKey(name, type), on: link.index).map { entry in
        CachedRecord(
          record: entry.record, interface: link.index,
          timeLeft: max(.zero, now.duration(to: entry.expires)))
      }
    }
  }

  /// Returns the cached records of a key on an interface. The type `any` matches all types.
  func entries(_ key: RecordKey, on interface: UInt32) -> [RecordCache.Entry] {
    guard key.type == .any else {
      return cache.entries(at: RecordCache.SetKey(interface: interface, key: key))
    }
    return cache.setKeys(of: key.name, on: interface).flatMap { cache.entries(at: $0) }
  }
}

// MARK: - TXT records

extension Querier {
  /// Starts monitoring the TXT record of a service. An event follows when the record is known, and
  /// whenever it changes or disappears. Returns nil if `monitorLimit` monitors are running.
  package mutating func monitorText(of instance: Name, at now: Instant) -> MonitorID? {
    guard monitors.count < Self.monitorLimit else { return nil }
    let id = MonitorID(number: makeNumber())
    let key = RecordKey(instance, .txt)
    monitors[id] = Monitor(key: key)
    open(key, for: .monitor(id), at: now)
    compareText(id)
    return id
  }

  /// Stops a TXT record monitor. No further events are reported for it.
  package mutating func stopMonitoring(_ id: MonitorID) {
    guard let monitor = monitors.removeValue(forKey: id) else { return }
    activeQuestions.remove(.monitor(id), for: monitor.key)
    dropEvents(of: id.number)
  }

  mutating func compareText(_ id: MonitorID) {
    guard let monitor = monitors[id] else { return }
    let text = text(monitor.key, on: links.map(\.index))
    guard text != monitor.text else { return }
    monitors[id]?.text = text
    emit(.text(id, text))
  }
}

// MARK: - Reconfirmation

extension Querier {
  /// Reconfirms a service that does not respond: queries for its records immediately, and removes
  /// them after ten seconds unless they are received again (RFC 6762 §10.4).
  package mutating func reconfirm(_ instance: Name, at now: Instant) {
    var keys: Set<RecordKey> = []
    for id in browses.keys.sorted(by: { $0.number < $1.number }) {
      guard let browse = browses[id], browse.services[instance] != nil,
        keys.insert(browse.key).inserted
      else { continue }
      reconfirmRecords(browse.key, at: now) { $0.data == .pointer(instance) }
    }
    for type in [RecordType.srv, .txt] {
      reconfirmRecords(RecordKey(instance, type), at: now) { _ in true }
    }
    handleTimeout(at: now)
  }

  /// Reconfirms one record on every interface: queries for it immediately, and removes it after ten
  /// seconds unless it is received again (RFC 6762 §10.4).
  package mutating func reconfirm(_ record: Record, at now: Instant) {
    reconfirmRecords(record.key, at: now) { $0.identity == record.identity }
    handleTimeout(at: now)
  }

  /// Reconfirms the matching records of `key`. Does nothing if none is cached, or if
  /// `reconfirmLimit` reconfirmations are running.
  private mutating func reconfirmRecords(
    _ key: RecordKey, at now: Instant, _ isAffected: (Record) -> Bool
  ) {
    let setKeys = links.map { RecordCache.SetKey(interface: $0.index, key: key) }
    guard setKeys.contains(where: { cache.entries(at: $0).contains { isAffected($0.record) } }),
      reconfirmations[key] != nil || reconfirmations.count < Self.reconfirmLimit
    else { return }
    for setKey in setKeys {
      cache.reconfirm(setKey, for: Self.reconfirmationTimeout, at: now, isAffected)
    }
    let end = now.advanced(by: Self.reconfirmationTimeout)
    if reconfirmations.updateValue(end, forKey: key) == nil {
      open(key, for: .reconfirmation, at: now)
    }
    reconfirmationTimers.insert(key, at: end)
    activeQuestions.modify(key) { $0.modify(nil) { $0.restart(at: now) } }
  }

  mutating func endReconfirmations(at now: Instant) {
    while let key = reconfirmationTimers.popFirst(until: now) {
      guard let end = reconfirmations[key], end <= now else { continue }
      reconfirmations[key] = nil
      activeQuestions.remove(.reconfirmation, for: key)
    }
  }
}
