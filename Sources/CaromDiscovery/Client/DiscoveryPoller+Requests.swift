import CaromDNS

extension DiscoveryPoller {
  /// Starts an operation on the loop's thread, and returns its request. Errors are reported as
  /// `.failed` events.
  private func start(
    _ body:
      @escaping @Sendable (
        isolated DiscoveryActor, Request, PollerRequests
      ) throws(DiscoveryError) -> DiscoveryActor.Handle
  ) -> Request {
    let request = requests.makeRequest()
    discovery.loop.post { [requests, discovery] in
      discovery.assumeIsolated { discovery in
        guard requests.isOpen(request) else { return }
        do throws(DiscoveryError) {
          let handle = try body(discovery, request, requests)
          if !requests.store(handle, for: request) { discovery.stop(handle) }
        } catch {
          requests.send(.failed(request, error))
        }
      }
    }
    return request
  }

  /// Starts advertising a service. `.advertised` is reported when the service becomes visible, and
  /// again whenever its name changes.
  public func advertise(_ service: AdvertisedService) -> Request {
    start { discovery, request, requests throws(DiscoveryError) in
      .advertising(
        try discovery.advertise(service) { requests.send($0, of: request) })
    }
  }

  /// Starts registering a service in `domain`, by dynamic updates of its zone (RFC 2136), together
  /// with the host's addresses on the poller's interfaces. `.advertised` is reported when the zone
  /// contains the service, and again whenever its name changes; `.failed` if it cannot be
  /// registered.
  public func advertise(_ service: AdvertisedService, in domain: RegistrationDomain) -> Request {
    start { discovery, request, requests throws(DiscoveryError) in
      try discovery.register(service, in: domain) { requests.send($0, of: request) }
    }
  }

  /// Replaces the TXT record of an advertised service.
  public func update(_ request: Request, txt: TXTRecord) {
    modify(request) { discovery, id throws(DiscoveryError) in
      try discovery.update(id, txt: txt)
    } inDomain: { publication throws(DiscoveryError) in
      try await publication.update(txt: txt)
    }
  }

  /// Replaces the subtypes under which an advertised service is found.
  public func update(_ request: Request, subtypes: [String]) {
    modify(request) { discovery, id throws(DiscoveryError) in
      try discovery.update(id, subtypes: subtypes)
    } inDomain: { publication throws(DiscoveryError) in
      try await publication.update(subtypes: subtypes)
    }
  }

  /// Renames an advertised service. `.advertised` is reported once the new name is established.
  public func rename(_ request: Request, to name: String) {
    modify(request) { discovery, id throws(DiscoveryError) in
      try discovery.rename(id, to: name)
    } inDomain: { publication throws(DiscoveryError) in
      try await publication.rename(to: name)
    }
  }

  /// Changes a service with the closure for the link or with that for a domain, on the loop's
  /// thread.
  private func modify(
    _ request: Request,
    _ onLink:
      @escaping @Sendable (
        isolated DiscoveryActor, DiscoveryCore.AdvertisingID
      ) throws(DiscoveryError) -> Void,
    inDomain: @escaping @Sendable (Publication) async throws(DiscoveryError) -> Void
  ) {
    discovery.loop.post { [requests, discovery] in
      let handle = requests.handle(of: request)
      discovery.assumeIsolated { discovery in
        switch handle {
        case .advertising(let id):
          do throws(DiscoveryError) { try onLink(discovery, id) } catch {
            requests.send(.updateFailed(request, error))
          }
        case .registering(let number):
          discovery.modify(number, inDomain) { requests.send(.updateFailed(request, $0)) }
        case .watching, .resolving, .serverTask, nil: break
        }
      }
    }
  }

  /// Watches for services of a type, or of one of its subtypes. Reports `.service` events.
  public func browse(
    _ type: ServiceType, subtype: String? = nil, domain: String = "local"
  ) -> Request {
    start { discovery, request, requests throws(DiscoveryError) in
      let search = try ServiceSearch(type, subtype: subtype, domain: domain)
      return try discovery.browse(search) { requests.send($0, of: request, Event.service) }
    }
  }

  /// Watches for the service types that are offered on the link. Reports `.serviceType` events.
  public func browseTypes() -> Request {
    start { discovery, request, requests throws(DiscoveryError) in
      try discovery.browseTypes { requests.send($0, of: request, Event.serviceType) }
    }
  }

  /// Watches for recommended domains. Reports `.domain` events.
  public func browseDomains(_ purpose: DomainPurpose = .browsing) -> Request {
    start { discovery, request, requests throws(DiscoveryError) in
      try discovery.browseDomains(purpose) { requests.send($0, of: request, Event.domain) }
    }
  }

  /// Watches the records of one type under a name. Reports `.record` events.
  public func query(_ name: String, _ type: RecordType) -> Request {
    start { discovery, request, requests throws(DiscoveryError) in
      try discovery.query(name, type) { requests.send($0, of: request, Event.record) }
    }
  }

  /// Watches a service's TXT record. Reports `.txt` events.
  public func monitor(_ service: DiscoveredService) -> Request {
    start { discovery, request, requests throws(DiscoveryError) in
      try discovery.monitor(service.fullName) { result in
        requests.send(result, of: request) { .txt($0, $1 ?? [:]) }
      }
    }
  }

  /// Resolves the endpoints at which a service can be reached. Reports one `.resolved` or `.failed`
  /// event.
  public func resolve(_ service: DiscoveredService, within limit: Duration = .seconds(5)) -> Request
  {
    start { discovery, request, requests throws(DiscoveryError) in
      try discovery.resolve(service.fullName, within: limit) {
        requests.send($0, of: request, Event.resolved)
      }
    }
  }

  /// Queries again for a service that could not be reached. The service is removed after ten
  /// seconds unless its record is received again (RFC 6762 §10.4).
  public func reconfirm(_ service: DiscoveredService) {
    discovery.loop.post { [discovery] in
      discovery.assumeIsolated { $0.reconfirm(service.fullName) }
    }
  }
}
