import CaromCore
import CaromDNS
import CaromTransport

/// The names that do not belong to the link go to name servers, behind the same calls.
extension DiscoveryActor {
  /// Whether that name is asked for at name servers.
  static func isUnicast(_ name: Name) -> Bool { !name.isLinkLocal }

  /// Begins to watch; throws where there is nobody to ask.
  private func watch<Value>(
    _ listener: @escaping Listener<Value>, beside link: DiscoveryCore.WatchingID? = nil,
    hasQuestions: Bool = true,
    _ work: @escaping @Sendable (UnicastClient, [Endpoint]) async -> Void
  ) throws(DiscoveryError) -> Handle {
    let (client, servers) = (unicastClient, nameServers().servers)
    guard !servers.isEmpty || link != nil else { throw .noNameServer }
    let close = { @Sendable in listener(.failure(.closed)) }
    return keep(UnicastWork(link: link, close: close)) { number in
      guard hasQuestions, !servers.isEmpty else { return nil }
      return Task {
        await work(client, servers)
        // Watching ends by itself only where the loop does.
        if !Task.isCancelled { self.finish(number)?.close() }
      }
    }
  }

  func browseServers(
    _ search: ServiceSearch, _ listener: @escaping Listener<ServiceChange>
  ) throws(DiscoveryError) -> Handle {
    guard let name = try? search.target.name() else { throw .nameInvalid }
    return try watch(listener) { client, servers in
      let browsing = UnicastBrowsing(name, by: client, of: servers) { change in
        listener(
          .success(change.map { DiscoveredService($0, type: search.type, discovery: self) }))
      }
      await browsing.run()
    }
  }

  func queryServers(
    _ key: RecordKey, _ listener: @escaping Listener<DiscoveryChange<DiscoveredRecord>>
  ) throws(DiscoveryError) -> Handle {
    try watch(listener) { client, servers in
      await client.watch(key, of: servers) { changes in
        for change in changes { listener(.success(DiscoveryChange(change))) }
      }
    }
  }

  func monitorServers(
    _ name: Name, _ listener: @escaping Listener<TXTRecord?>
  ) throws(DiscoveryError) -> Handle {
    try watch(listener) { client, servers in
      await client.watch(RecordKey(name, .txt), of: servers) { changes in
        for change in changes {
          if case .added(let record) = change, case .text(let bytes) = record.data {
            listener(.success(TXTRecord(decoding: bytes)))
          } else if changes.count == 1 {
            listener(.success(nil))
          }
        }
      }
    }
  }

  /// The domains that the link recommends are given; those that servers do come here: asked in
  /// the search domains, and by the subnets of the links as they are now (RFC 6763 §11).
  func browseServerDomains(
    _ purpose: DomainBrowser.Purpose, of links: [Link], beside link: DiscoveryCore.WatchingID,
    _ collector: DomainCollector,
    _ listener: @escaping Listener<DiscoveryChange<DiscoveredDomain>>
  ) throws(DiscoveryError) -> Handle {
    let domains = DomainEnumeration.domains(
      searchDomains: nameServers().domains,
      addresses: links.flatMap(\.addresses)
    ).filter(Self.isUnicast)
    return try watch(listener, beside: link, hasQuestions: !domains.isEmpty) { client, servers in
      await withTaskGroup(of: Void.self) { group in
        for domain in domains {
          guard let name = try? BrowseTarget.domains(purpose.kind, in: domain).name() else {
            continue
          }
          group.addTask {
            await client.watch(RecordKey(name, .ptr), of: servers) { changes in
              collector.apply(changes, from: domain)
            }
          }
        }
      }
    }
  }

  func resolveAtServers(
    _ name: Name, within limit: Duration
  ) async throws(DiscoveryError) -> ResolvedService {
    let servers = nameServers().servers
    guard !servers.isEmpty else { throw .noNameServer }
    return ResolvedService(
      try await unicastClient.resolve(name, of: servers, within: limit))
  }

  func resolveAtServers(
    _ name: Name, within limit: Duration, _ listener: @escaping Listener<ResolvedService>
  ) throws(DiscoveryError) -> Handle {
    let (client, servers) = (unicastClient, nameServers().servers)
    guard !servers.isEmpty else { throw .noNameServer }
    return keep(UnicastWork(close: { listener(.failure(.closed)) })) { number in
      Task {
        let result: Result<ResolvedService, DiscoveryError>
        do throws(DiscoveryError) {
          let place = try await client.resolve(name, of: servers, within: limit)
          result = .success(ResolvedService(place))
        } catch {
          result = .failure(error)
        }
        if self.finish(number) != nil { listener(result) }
      }
    }
  }
}

extension DiscoveryChange {
  /// The same change of something else.
  func map<Other>(_ transform: (Item) -> Other) -> DiscoveryChange<Other> {
    switch self {
    case .added(let item): .added(transform(item))
    case .updated(let item): .updated(transform(item))
    case .removed(let item): .removed(transform(item))
    }
  }
}

extension DiscoveryChange where Item == DiscoveredRecord {
  /// A name server's record; it has no interface.
  init(_ change: UnicastWatch.Change) {
    switch change {
    case .added(let record): self = .added(DiscoveredRecord(record, 0))
    case .removed(let record): self = .removed(DiscoveredRecord(record, 0))
    }
  }
}
