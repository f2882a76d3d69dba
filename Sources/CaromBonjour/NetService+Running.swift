import CaromDNS
import CaromDiscovery
import CaromTransport
import Foundation

// What a service does on the network.
extension NetService {
  /// The type and the subtypes of a text such as "_music._tcp.,_new".
  static func parse(_ text: String) throws(ServiceTypeError) -> (ServiceType, subtypes: [String]) {
    let parts = text.split(separator: ",").map(String.init)
    return (try ServiceType(parts.first ?? ""), Array(parts.dropFirst()))
  }

  /// A domain without its final dot.
  var bareDomain: String { domain.hasSuffix(".") ? String(domain.dropLast()) : domain }

  private func makeService(_ options: Options) throws -> AdvertisedService {
    let (type, subtypes) = try Self.parse(type)
    let state = state.withLock { $0 }
    guard let port = UInt16(exactly: state.port) else { throw DiscoveryError.portMissing }
    guard bareDomain.lowercased() == "local" else {
      throw DiscoveryError.domainNotLocal(bareDomain)
    }
    return AdvertisedService(
      name: state.name, type: type, port: port, txt: state.record, subtypes: subtypes,
      renamesOnConflict: !options.contains(.noAutoRename))
  }

  /// Publishes the service, with another name if its own is taken.
  public func publish() { publish(options: []) }

  /// Publishes the service. Does nothing if it is published already.
  public func publish(options: Options) {
    report { $1.netServiceWillPublish($0) }
    let service: AdvertisedService
    do {
      service = try makeService(options)
    } catch {
      let dictionary = Self.dictionary(error)
      return report { $1.netService($0, didNotPublish: dictionary) }
    }
    let advertiser = ServiceAdvertiser(service, interfaces: BonjourNetwork.selection)
    state.withLock { state in
      guard state.publishing == nil else { return }
      state.publishing = Task { [weak self] in
        do {
          try await advertiser.run { advertisement in
            self?.didPublish(advertisement)
            for try await name in advertisement.renames { self?.state.withLock { $0.name = name } }
          }
        } catch {
          if !Task.isCancelled {
            let dictionary = Self.dictionary(error)
            self?.report { $1.netService($0, didNotPublish: dictionary) }
          }
        }
        self?.publishingDidEnd()
      }
    }
  }

  private func didPublish(_ advertisement: Advertisement) {
    state.withLock { state in
      state.name = advertisement.name
      state.advertisement = advertisement
    }
    report { $1.netServiceDidPublish($0) }
  }

  private func publishingDidEnd() {
    let wasPublished = state.withLock { state in
      state.publishing = nil
      defer { state.advertisement = nil }
      return state.advertisement != nil
    }
    if wasPublished { report { $1.netServiceDidStop($0) } }
  }

  /// Finds the addresses of the service. Each attempt has one end: an address, or the reason why
  /// there is none.
  ///
  /// - Parameter timeout: The time limit in seconds; 0 for none.
  public func resolve(withTimeout timeout: TimeInterval) {
    report { $1.netServiceWillResolve($0) }
    let resolver: ServiceResolver
    do {
      let (type, _) = try Self.parse(type)
      resolver = ServiceResolver(
        name, type, domain: bareDomain, interfaces: BonjourNetwork.selection)
    } catch {
      let dictionary = Self.dictionary(error)
      return report { $1.netService($0, didNotResolve: dictionary) }
    }
    let limit = timeout > 0 ? min(timeout, 24 * 60 * 60) : 24 * 60 * 60
    state.withLock { state in
      guard state.resolving == nil else { return }
      state.resolving = Task { [weak self] in
        do throws(DiscoveryError) {
          self?.didResolve(try await resolver.resolve(within: .seconds(limit)))
        } catch {
          let dictionary = Self.dictionary(error)
          self?.endResolving()
          self?.report { $1.netService($0, didNotResolve: dictionary) }
        }
      }
    }
  }

  private func endResolving() { state.withLock { $0.resolving = nil } }

  private func didResolve(_ resolved: ResolvedService) {
    state.withLock { state in
      state.resolving = nil
      state.hostName = resolved.host + "."
      state.addresses = resolved.endpoints.map { SocketAddressData.make($0) }
      state.port = resolved.endpoints.first.map { Int($0.port) } ?? -1
      state.record = resolved.txt
    }
    report { $1.netServiceDidResolveAddress($0) }
  }

  /// Stops what is under way: withdraws a published service, and ends an attempt to resolve.
  public func stop() {
    state.withLock { state in
      state.publishing?.cancel()
      state.resolving?.cancel()
    }
  }

  /// Begins to watch the TXT record.
  public func startMonitoring() {
    guard let (type, _) = try? Self.parse(type) else { return }
    let resolver = ServiceResolver(
      name, type, domain: bareDomain, interfaces: BonjourNetwork.selection)
    state.withLock { state in
      guard state.monitoring == nil else { return }
      state.monitoring = Task { [weak self] in
        do throws(DiscoveryError) {
          for try await record in resolver.txtRecords { self?.didUpdate(record) }
        } catch {}
      }
    }
  }

  private func didUpdate(_ record: TXTRecord) {
    state.withLock { $0.record = record }
    let data = Data(record.encoded)
    report { $1.netService($0, didUpdateTXTRecord: data) }
  }

  /// Stops watching the TXT record.
  public func stopMonitoring() {
    state.withLock { state in
      state.monitoring?.cancel()
      state.monitoring = nil
    }
  }

  /// Does nothing: delegate calls come on a serial queue.
  public func schedule(in aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {}

  /// Does nothing: delegate calls come on a serial queue.
  public func remove(from aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {}
}
