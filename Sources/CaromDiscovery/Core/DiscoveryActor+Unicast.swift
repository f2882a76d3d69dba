import CaromCore
import CaromDNS
import CaromTransport

/// Operations on names outside the link, for which name servers are queried.
extension DiscoveryActor {
  /// Returns whether `name` is looked up through name servers instead of by multicast.
  static func isUnicast(_ name: Name) -> Bool { !name.isLinkLocal }

  /// Starts `work` as a task if there are name servers and `hasQuestions` is true. Returns the
  /// handle that stops the task and the watch on the link. Throws `noNameServer` if there is
  /// neither a name server nor a watch.
  private func watchServers<Value>(
    _ listener: @escaping Listener<Value>, alongside watch: DiscoveryCore.WatchingID? = nil,
    hasQuestions: Bool = true,
    _ work: @escaping @Sendable (UnicastClient, [Endpoint]) async -> Void
  ) throws(DiscoveryError) -> Handle {
    let (client, servers) = (unicastClient, nameServers().servers)
    guard !servers.isEmpty || watch != nil else { throw .noNameServer }
    let reportClosed = { @Sendable in listener(.failure(.closed)) }
    return addServerTask(ServerTask(linkWatch: watch, reportClosed: reportClosed)) { number in
      guard hasQuestions, !servers.isEmpty else { return nil }
      return Task {
        await work(client, servers)
        // Without a cancellation, `work` returns only because the loop has shut down.
        if !Task.isCancelled { self.removeServerTask(number)?.reportClosed() }
      }
    }
  }

  func browseServers(
    _ search: ServiceSearch, _ listener: @escaping Listener<ServiceChange>
  ) throws(DiscoveryError) -> Handle {
    guard let name = try? search.target.name() else { throw .nameInvalid }
    return try watchServers(listener) { client, servers in
      let browsing = UnicastBrowsing(name, by: client, of: servers) { change in
        listener(
          .success(change.map { DiscoveredService($0, type: search.type, discovery: self) }))
      }
      await browsing.run()
    }
  }

  /// Watches the records of `key` through the name servers. `watch`, if not nil, is the watch of
  /// the same records on the link. The returned handle stops both.
  func queryServers(
    _ key: RecordKey, alongside watch: DiscoveryCore.WatchingID? = nil,
    _ listener: @escaping Listener<DiscoveryChange<DiscoveredRecord>>
  ) throws(DiscoveryError) -> Handle {
    try watchServers(listener, alongside: watch) { client, servers in
      await client.watch(key, of: servers) { changes in
        for change in changes { listener(.success(DiscoveryChange(change))) }
      }
    }
  }

  func monitorServers(
    _ name: Name, _ listener: @escaping Listener<TXTRecord?>
  ) throws(DiscoveryError) -> Handle {
    let collector = Locked(TextCollector())
    return try watchServers(listener) { client, servers in
      await client.watch(RecordKey(name, .txt), of: servers) { changes in
        let (isNew, text) = collector.withLock { ($0.apply(changes), $0.text) }
        if isNew { listener(.success(text)) }
      }
    }
  }

  /// Resolves a service through name servers, and does so again whenever its SRV records are
  /// queried again, since its addresses may have changed by then. Reports each result that differs
  /// from the previous one.
  func watchServerEndpoints(
    of name: Name, _ listener: @escaping Listener<ResolvedService>
  ) throws(DiscoveryError) -> Handle {
    let last = Locked<Resolution?>(nil)
    return try watchServers(listener) { client, servers in
      await client.watch(RecordKey(name, .srv), of: servers) { _ in
        guard let resolution = try? await client.resolve(name, of: servers, within: .seconds(5))
        else { return }
        let isNew = last.withLock { last in
          defer { last = resolution }
          return last?.isEquivalent(to: resolution) != true
        }
        if isNew { listener(.success(ResolvedService(resolution))) }
      }
    }
  }

  /// Asks the name servers which domains to use: in the search domains, and in the reverse-mapping
  /// domains of the links' current subnets (RFC 6763 §11). `collector` merges the results with
  /// those of `watch`, which asks the same by multicast.
  func browseServerDomains(
    _ purpose: DomainPurpose, of links: [Link], alongside watch: DiscoveryCore.WatchingID,
    _ collector: DomainCollector,
    _ listener: @escaping Listener<DiscoveryChange<DiscoveredDomain>>
  ) throws(DiscoveryError) -> Handle {
    let domains = DomainEnumeration.domains(
      searchDomains: nameServers().domains,
      addresses: links.flatMap(\.addresses)
    ).filter(Self.isUnicast)
    return try watchServers(listener, alongside: watch, hasQuestions: !domains.isEmpty) {
      client, servers in
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
    let work = ServerTask(reportClosed: { listener(.failure(.closed)) })
    return addServerTask(work) { number in
      Task {
        let result: Result<ResolvedService, DiscoveryError>
        do throws(DiscoveryError) {
          let resolution = try await client.resolve(name, of: servers, within: limit)
          result = .success(ResolvedService(resolution))
        } catch {
          result = .failure(error)
        }
        if self.removeServerTask(number) != nil { listener(result) }
      }
    }
  }
}

extension DiscoveryChange where Item == DiscoveredRecord {
  /// Creates the public form of a change reported by a name server. The interface index of its
  /// record is 0.
  init(_ change: UnicastMonitor.Change) {
    switch change {
    case .added(let record): self = .added(DiscoveredRecord(record, 0))
    case .removed(let record): self = .removed(DiscoveredRecord(record, 0))
    }
  }
}
