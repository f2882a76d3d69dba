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
