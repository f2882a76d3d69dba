import CaromCore

extension Querier {
  /// Starts browsing for `target`, which must form a valid name, and reports matching cached
  /// records immediately. Returns nil if `browseLimit` browse operations are already running.
  package mutating func browse(_ target: BrowseTarget, at now: Instant) -> BrowseID? {
    guard browses.count < Self.browseLimit else { return nil }
    let id = BrowseID(number: makeNumber())
    guard let browse = try? Browse(target) else {
      preconditionFailure("the target is not a valid name: check target.name() before browsing")
    }
    let key = browse.key
    browses[id] = browse
    open(key, for: .browse(id), at: now)
    for link in links {
      let setKey = RecordCache.SetKey(interface: link.index, key: key)
      for entry in cache.current(at: setKey) {
        addToBrowse(entry.record, by: id, on: link.index, at: now)
      }
    }
    return id
  }

  /// Stops a browse operation. No further events are reported for it.
  package mutating func stopBrowsing(_ id: BrowseID) {
    guard let browse = browses.removeValue(forKey: id) else { return }
    activeQuestions.remove(.browse(id), for: browse.key)
    for name in browse.services.keys {
      activeQuestions.remove(.browse(id), for: RecordKey(name, .txt))
    }
    dropEvents(of: id.number)
  }

  /// Handles a record that answers a browse operation. PTR records are accepted regardless of the
  /// name that they point to (RFC 6763 §4.1).
  mutating func addToBrowse(
    _ record: Record, by id: BrowseID, on interface: UInt32, at now: Instant
  ) {
    switch record.data {
    case .pointer(let name):
      guard browses[id] != nil else { return }
      if let base = browses[id]?.base {
        add(name, before: base, to: id, on: interface, at: now)
      } else {
        list(name, in: id, on: interface)
      }
    case .text: refreshText(of: record.name, in: id)
    default: break
    }
  }

  private mutating func add(
    _ name: Name, before base: Name, to id: BrowseID, on interface: UInt32, at now: Instant
  ) {
    if let service = browses[id]?.services[name] {
      guard !service.interfaces.contains(interface) else { return }
      browses[id]?.services[name]?.interfaces = (service.interfaces + [interface]).sorted()
      return
    }
    var service = FoundService(
      name: name, text: nil, interfaces: [interface], instance: name.prefix(before: base))
    service.text = text(RecordKey(name, .txt), on: service.interfaces)
    browses[id]?.services[name] = service
    let key = RecordKey(name, .txt)
    if activeQuestions[key] != nil || activeQuestions.count < Self.detailLimit {
      open(key, for: .browse(id), at: now)
    }
    emit(.added(id, service))
  }

  private mutating func list(_ name: Name, in id: BrowseID, on interface: UInt32) {
    if let found = browses[id]?.names[name] {
      guard !found.interfaces.contains(interface) else { return }
      browses[id]?.names[name]?.interfaces = (found.interfaces + [interface]).sorted()
      return
    }
    let found = FoundName(name: name, interfaces: [interface])
    browses[id]?.names[name] = found
    emit(.nameAdded(id, found))
  }

  private mutating func refreshText(of name: Name, in id: BrowseID) {
    guard var service = browses[id]?.services[name],
      let text = text(RecordKey(name, .txt), on: service.interfaces), text != service.text
    else { return }
    service.text = text
    browses[id]?.services[name] = service
    emit(.updated(id, service))
  }

  /// Returns the TXT record from the first of `interfaces` on which a TXT record was received, or
  /// nil if there is none.
  func text(_ key: RecordKey, on interfaces: [UInt32]) -> TXTRecord? {
    for interface in interfaces {
      let setKey = RecordCache.SetKey(interface: interface, key: key)
      if case .text(let bytes) = cache.newest(at: setKey) { return TXTRecord(decoding: bytes) }
    }
    return nil
  }

  /// Handles the loss of a record that answered a browse operation.
  mutating func removeFromBrowse(_ record: Record, from id: BrowseID, on interface: UInt32) {
    guard case .pointer(let name) = record.data else { return }
    if var service = browses[id]?.services[name] {
      service.interfaces.removeAll { $0 == interface }
      guard service.interfaces.isEmpty else {
        browses[id]?.services[name] = service
        return refreshText(of: name, in: id)
      }
      browses[id]?.services[name] = nil
      activeQuestions.remove(.browse(id), for: RecordKey(name, .txt))
      emit(.removed(id, service))
    } else if var found = browses[id]?.names[name] {
      found.interfaces.removeAll { $0 == interface }
      browses[id]?.names[name] = found.interfaces.isEmpty ? nil : found
      if found.interfaces.isEmpty { emit(.nameRemoved(id, found)) }
    }
  }
}
