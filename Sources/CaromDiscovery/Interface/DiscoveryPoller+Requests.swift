import CaromDNS

extension DiscoveryPoller {
  /// Begins on the loop's thread; what goes wrong is an event.
  private func begin(
    _ start:
      @escaping @Sendable (
        isolated DiscoveryActor, Request, Mailbox
      ) throws(DiscoveryError) -> DiscoveryActor.Handle
  ) -> Request {
    let request = mailbox.makeRequest()
    discovery.loop.post { [mailbox, discovery] in
      discovery.assumeIsolated { discovery in
        guard mailbox.isOpen(request) else { return }
        do throws(DiscoveryError) {
          let handle = try start(discovery, request, mailbox)
          if !mailbox.keep(handle, for: request) { discovery.stop(handle) }
        } catch {
          mailbox.send(.failed(request, error))
        }
      }
    }
    return request
  }

  /// Makes a service visible: `.advertised` follows when it is, and whenever its name changes.
  public func advertise(_ service: AdvertisedService) -> Request {
    begin { discovery, request, mailbox throws(DiscoveryError) in
      .advertising(
        try discovery.advertise(service) { event in
          switch event {
          case .established(let name), .renamed(let name):
            mailbox.send(.advertised(request, name: name))
          case .failed(let error): mailbox.send(.failed(request, error))
          }
        })
    }
  }

  /// Changes the strings beside an advertised service.
  public func update(_ request: Request, txt: TXTRecord) {
    revise(request) { discovery, id throws(DiscoveryError) in try discovery.update(id, txt: txt) }
  }

  /// Changes the narrower types that an advertised service is found under.
  public func update(_ request: Request, subtypes: [String]) {
    revise(request) { discovery, id throws(DiscoveryError) in
      try discovery.update(id, subtypes: subtypes)
    }
  }

  /// Gives an advertised service another name.
  public func rename(_ request: Request, to name: String) {
    revise(request) { discovery, id throws(DiscoveryError) in try discovery.rename(id, to: name) }
  }

  private func revise(
    _ request: Request,
    _ body:
      @escaping @Sendable (
        isolated DiscoveryActor, DiscoveryCore.AdvertisingID
      ) throws(DiscoveryError) -> Void
  ) {
    discovery.loop.post { [mailbox, discovery] in
      guard case .advertising(let id) = mailbox.handle(of: request) else { return }
      discovery.assumeIsolated { discovery in
        do throws(DiscoveryError) { try body(discovery, id) } catch {
          mailbox.send(.refused(request, error))
        }
      }
    }
  }

  /// Watches for services of a type, or of one of its narrower ones: `.service` follows.
  public func browse(
    _ type: ServiceType, subtype: String? = nil, domain: String = "local"
  ) -> Request {
    begin { discovery, request, mailbox throws(DiscoveryError) in
      let search = try ServiceSearch(type, subtype: subtype, domain: domain)
      return try discovery.browse(search) { mailbox.send($0, of: request, Event.service) }
    }
  }

  /// Watches which types of service there are: `.serviceType` follows.
  public func browseTypes() -> Request {
    begin { discovery, request, mailbox throws(DiscoveryError) in
      try discovery.browseTypes { mailbox.send($0, of: request, Event.serviceType) }
    }
  }

  /// Watches which domains are recommended: `.domain` follows.
  public func browseDomains(_ purpose: DomainBrowser.Purpose = .browsing) -> Request {
    begin { discovery, request, mailbox throws(DiscoveryError) in
      try discovery.browseDomains(purpose) { mailbox.send($0, of: request, Event.domain) }
    }
  }

  /// Watches the records of a type under a name: `.record` follows.
  public func query(_ name: String, _ type: RecordType) -> Request {
    begin { discovery, request, mailbox throws(DiscoveryError) in
      try discovery.query(RecordQuery(name, type)) { mailbox.send($0, of: request, Event.record) }
    }
  }

  /// Watches the strings of a service: `.txt` follows.
  public func monitor(_ service: DiscoveredService) -> Request {
    begin { discovery, request, mailbox throws(DiscoveryError) in
      try discovery.monitor(service.fullName) { result in
        mailbox.send(result, of: request) { .txt($0, $1 ?? [:]) }
      }
    }
  }

  /// Learns where a service listens: one `.resolved` or `.failed` follows.
  public func resolve(_ service: DiscoveredService, within limit: Duration = .seconds(5)) -> Request
  {
    begin { discovery, request, mailbox throws(DiscoveryError) in
      try discovery.resolve(service.fullName, within: limit) {
        mailbox.send($0, of: request, Event.resolved)
      }
    }
  }

  /// Says that a service does not answer: it goes in ten seconds unless it is heard of.
  public func reconfirm(_ service: DiscoveredService) {
    discovery.loop.post { [discovery] in
      discovery.assumeIsolated { $0.reconfirm(service.fullName) }
    }
  }
}

extension Mailbox {
  /// What watching tells, as an event of `request`.
  func send<Value>(
    _ result: Result<Value, DiscoveryError>, of request: Request,
    _ makeEvent: (Request, Value) -> Event
  ) {
    switch result {
    case .success(let value): send(makeEvent(request, value))
    case .failure(let error): send(.failed(request, error))
    }
  }
}
