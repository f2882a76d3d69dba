import CaromCore

/// Which monitoring of a service's strings.
package struct MonitorID: Hashable, Sendable {
  let number: UInt64
}

/// Which query for records of a querier.
package struct QueryID: Hashable, Sendable {
  let number: UInt64
}

// MARK: - Records of any type

extension Querier {
  /// Asks for the records of a name and a type, `any` among them; what is known already is
  /// reported at once. `nil` where there are `queryLimit` queries.
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

  /// Asks no more: no further event of this query comes.
  package mutating func stopQuery(_ id: QueryID) {
    guard let key = queries.removeValue(forKey: id) else { return }
    inquiries.remove(.query(id), for: key)
    dropEvents(of: id.number)
  }

  /// What is known now of a name and a type, without a question.
  package func cachedRecords(_ name: Name, _ type: RecordType, at now: Instant) -> [CachedRecord] {
    links.flatMap { link in
      entries(RecordKey(name, type), on: link.index).map { entry in
        CachedRecord(
          record: entry.record, interface: link.index,
          timeLeft: max(.zero, now.duration(to: entry.expires)))
      }
    }
  }

  /// The records of a key, by all types where it names any.
  func entries(_ key: RecordKey, on interface: UInt32) -> [RecordCache.Entry] {
    guard key.type == .any else {
      return cache.entries(at: RecordCache.Place(interface: interface, key: key))
    }
    return cache.places(of: key.name, on: interface).flatMap { cache.entries(at: $0) }
  }
}

// MARK: - Strings

extension Querier {
  /// Watches the strings of a service. An event follows with what they are, and one whenever
  /// they change or vanish. `nil` where there are `monitorLimit` of them.
  package mutating func monitorText(of instance: Name, at now: Instant) -> MonitorID? {
    guard monitors.count < Self.monitorLimit else { return nil }
    let id = MonitorID(number: makeNumber())
    let key = RecordKey(instance, .txt)
    monitors[id] = Monitor(key: key)
    open(key, for: .monitor(id), at: now)
    compareText(id)
    return id
  }

  /// Watches no more: no further event of this monitoring comes.
  package mutating func stopMonitoring(_ id: MonitorID) {
    guard let monitor = monitors.removeValue(forKey: id) else { return }
    inquiries.remove(.monitor(id), for: monitor.key)
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
  /// The service does not answer: it is asked for at once, and goes in ten seconds unless it
  /// is heard of again (RFC 6762 §10.4).
  package mutating func reconfirm(_ instance: Name, at now: Instant) {
    var keys: Set<RecordKey> = []
    for id in browses.keys.sorted(by: { $0.number < $1.number }) {
      guard let browse = browses[id], browse.services[instance] != nil,
        keys.insert(browse.key).inserted
      else { continue }
      doubt(browse.key, at: now) { $0.data == .pointer(instance) }
    }
    for type in [RecordType.srv, .txt] { doubt(RecordKey(instance, type), at: now) { _ in true } }
    handleTimeout(at: now)
  }

  /// The same for one record, on every interface.
  package mutating func reconfirm(_ record: Record, at now: Instant) {
    doubt(record.key, at: now) { $0.identity == record.identity }
    handleTimeout(at: now)
  }

  /// What is not known cannot be doubted, nor what is beyond the limit.
  private mutating func doubt(
    _ key: RecordKey, at now: Instant, _ isDoubted: (Record) -> Bool
  ) {
    let places = links.map { RecordCache.Place(interface: $0.index, key: key) }
    guard places.contains(where: { cache.entries(at: $0).contains { isDoubted($0.record) } }),
      doubts[key] != nil || doubts.count < Self.reconfirmLimit
    else { return }
    for place in places { cache.doubt(place, for: Self.doubtPatience, at: now, isDoubted) }
    let end = now.advanced(by: Self.doubtPatience)
    if doubts.updateValue(end, forKey: key) == nil { open(key, for: .doubt, at: now) }
    doubtTimers.insert(key, at: end)
    inquiries.modify(key) { $0.modify(nil) { $0.restart(at: now) } }
  }

  mutating func endDoubts(at now: Instant) {
    while let key = doubtTimers.popFirst(until: now) {
      guard let end = doubts[key], end <= now else { continue }
      doubts[key] = nil
      inquiries.remove(.doubt, for: key)
    }
  }
}
