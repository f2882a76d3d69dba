import CaromCore
import CaromDNS

/// Browses for services in a domain outside the link. A service is added when a PTR record of the
/// service type names it, and removed with that record. Each answer with PTR records is followed by
/// queries for the services' TXT records.
actor UnicastBrowsing {
  private let client: UnicastClient
  private let servers: [Endpoint]
  private let key: RecordKey
  private let handle: @Sendable (DiscoveryChange<FoundService>) -> Void
  private var found: [Name: FoundService] = [:]
  /// The names of the services, in the order in which they were found.
  private var order: [Name] = []

  init(
    _ type: Name, by client: UnicastClient, of servers: [Endpoint],
    _ handle: @escaping @Sendable (DiscoveryChange<FoundService>) -> Void
  ) {
    key = RecordKey(type, .ptr)
    self.client = client
    self.servers = servers
    self.handle = handle
  }

  /// Browses until the task is cancelled or the loop shuts down.
  func run() async {
    await client.watch(key, of: servers) { changes in
      await self.apply(changes)
      await self.refreshTexts()
    }
  }

  private func apply(_ changes: [UnicastMonitor.Change]) {
    for change in changes {
      switch change {
      case .added(let record):
        guard case .pointer(let name) = record.data, found[name] == nil else { continue }
        let service = FoundService(name, of: key.name)
        found[name] = service
        order.append(name)
        handle(.added(service))
      case .removed(let record):
        guard case .pointer(let name) = record.data,
          let service = found.removeValue(forKey: name)
        else { continue }
        order.removeAll { $0 == name }
        handle(.removed(service))
      }
    }
  }

  /// Queries the TXT records of all services, `parallelQuestions` at a time.
  private func refreshTexts() async {
    var rest = order[...]
    while !rest.isEmpty, !Task.isCancelled {
      let names = rest.prefix(UnicastClient.parallelQuestions)
      rest = rest.dropFirst(names.count)
      let texts = await withTaskGroup(of: (Name, TXTRecord?).self) { [client, servers] group in
        for name in names {
          group.addTask { (name, await client.text(of: name, of: servers)) }
        }
        return await group.reduce(into: [Name: TXTRecord]()) { $0[$1.0] = $1.1 }
      }
      for name in names {
        guard var service = found[name], let text = texts[name], text != service.text else {
          continue
        }
        service.text = text
        found[name] = service
        handle(.updated(service))
      }
    }
  }
}
