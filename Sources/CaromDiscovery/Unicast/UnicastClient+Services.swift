import CaromCore
import CaromDNS
import CaromTransport

extension UnicastClient {
  /// The maximum number of TXT records that are queried at the same time while browsing.
  static let parallelQuestions = 16
  /// The maximum number of hosts of one service whose addresses are queried.
  static let hostLimit = 8

  /// Reports changes to the records under a name until the task is cancelled or the loop shuts
  /// down. The query is repeated before the records expire; after failures it is repeated at
  /// increasing intervals.
  package func watch(
    _ key: RecordKey, of servers: [Endpoint],
    _ handle: @Sendable ([UnicastMonitor.Change]) async -> Void
  ) async {
    var monitor = UnicastMonitor(start: loop.now)
    while !Task.isCancelled {
      _ = monitor.handleTimeout(at: loop.now)
      do throws(UnicastError) {
        let answer = try await ask(key.name, key.type, of: servers)
        await handle(monitor.handleAnswer(answer, at: loop.now))
      } catch {
        if error == .cancelled || error == .closed { return }
        await handle(monitor.handleFailure(error, at: loop.now))
      }
      guard let next = monitor.nextTimeout, (try? await loop.sleep(until: next)) != nil else {
        return
      }
    }
  }

  /// Queries a service's TXT record. Returns nil if no server answers with a TXT record.
  func text(
    of instance: Name, of servers: [Endpoint],
    within limit: Duration = UnicastClient.defaultTimeLimit
  ) async -> TXTRecord? {
    let answer = try? await ask(instance, .txt, of: servers, within: limit)
    guard case .text(let bytes) = answer?.records.first?.data else { return nil }
    return TXTRecord(decoding: bytes)
  }

  /// Resolves the endpoints at which a service can be reached. If no server knows the name as
  /// given, the name in Unicode normalization form C is tried.
  package func resolve(
    _ instance: Name, of servers: [Endpoint], within limit: Duration
  ) async throws(DiscoveryError) -> Resolution {
    let deadline = loop.now + limit
    do throws(DiscoveryError) {
      return try await resolveExactly(instance, of: servers, until: deadline)
    } catch {
      let composed = instance.composed
      guard error == .notOffered, composed != instance else { throw error }
      return try await resolveExactly(composed, of: servers, until: deadline)
    }
  }

  private func resolveExactly(
    _ instance: Name, of servers: [Endpoint], until deadline: Instant
  ) async throws(DiscoveryError) -> Resolution {
    let answer: UnicastAnswer
    do throws(UnicastError) {
      answer = try await ask(instance, .srv, of: servers, within: deadline - loop.now)
    } catch {
      switch error {
      case .cancelled: throw .cancelled
      case .closed: throw .closed
      case .noServers, .unreachable, .refused: throw .noNameServer
      case .nameError: throw .notOffered
      default: throw .timedOut
      }
    }
    let remaining = deadline - loop.now
    async let text = text(of: instance, of: servers, within: remaining)
    var generator = SeededGenerator(seed: .random(in: .min ... .max))
    var addresses: [Name: [IPAddress]] = [:]
    let hosts = Resolution.hosts(of: answer.records, using: &generator)
    for host in hosts.prefix(Self.hostLimit) {
      addresses[host] = await self.addresses(
        of: host, given: answer.additionals, from: servers, until: deadline)
    }
    let resolution = Resolution(
      services: answer.records, addresses: addresses, text: await text ?? TXTRecord(),
      using: &generator)
    guard let resolution else { throw .timedOut }
    return resolution
  }

  /// Returns the addresses of a host, IPv6 first: those among the additional records `given`, or,
  /// if there are none, those in the servers' answers.
  private func addresses(
    of host: Name, given: [Record], from servers: [Endpoint], until deadline: Instant
  ) async -> [IPAddress] {
    var found = given.filter { $0.name == host }
    if !found.contains(where: { [.a, .aaaa].contains($0.type) }) {
      let limit = deadline - loop.now
      async let v6 = try? ask(host, .aaaa, of: servers, within: limit)
      async let v4 = try? ask(host, .a, of: servers, within: limit)
      found = (await v6?.records ?? []) + (await v4?.records ?? [])
    }
    let addresses = found.compactMap { record -> IPAddress? in
      if case .address(let address) = record.data { address } else { nil }
    }
    return addresses.filter(\.isV6) + addresses.filter { !$0.isV6 }
  }
}
