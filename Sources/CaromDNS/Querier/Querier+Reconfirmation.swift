import CaromCore

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
