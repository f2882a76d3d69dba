import CaromCore
import CaromDNS
import CaromTransport

extension UnicastClient {
  /// Names that are asked for at a time while services are looked at.
  static let parallelQuestions = 16
  /// Hosts of one service whose addresses are asked for.
  static let hostLimit = 8

  /// Tells what comes and goes under a name, asking again as answers grow old, until the task is
  /// cancelled. Servers that do not answer are asked again, ever more rarely.
  package func watch(
    _ key: RecordKey, of servers: [Endpoint],
    _ handle: @Sendable ([UnicastWatch.Change]) async -> Void
  ) async {
    var watch = UnicastWatch(start: loop.now)
    while !Task.isCancelled {
      _ = watch.handleTimeout(at: loop.now)
      do throws(UnicastError) {
        let answer = try await ask(key.name, key.type, of: servers)
        await handle(watch.handleAnswer(answer, at: loop.now))
      } catch {
        if error == .cancelled || error == .closed { return }
        await handle(watch.handleFailure(error, at: loop.now))
      }
      guard let next = watch.nextTimeout, (try? await loop.sleep(until: next)) != nil else {
        return
      }
    }
  }

  /// The strings beside a service; `nil` where nobody says so.
  func text(of instance: Name, of servers: [Endpoint]) async -> TXTRecord? {
    let answer = try? await ask(instance, .txt, of: servers)
    guard case .text(let bytes) = answer?.records.first?.data else { return nil }
    return TXTRecord(decoding: bytes)
  }

  /// Where a service listens now.
  package func resolve(
    _ instance: Name, of servers: [Endpoint], within limit: Duration
  ) async throws(DiscoveryError) -> Resolution {
    let deadline = loop.now + limit
    let answer: UnicastAnswer
    do throws(UnicastError) {
      answer = try await ask(instance, .srv, of: servers, within: limit)
    } catch {
      switch error {
      case .cancelled: throw .cancelled
      case .closed: throw .closed
      case .noServers, .unreachable, .refused: throw .noNameServer
      case .nameError: throw .notOffered
      default: throw .timedOut
      }
    }
    async let text = text(of: instance, of: servers)
    var addresses: [Name: [IPAddress]] = [:]
    for case .service(_, _, _, let host) in answer.records.map(\.data).prefix(Self.hostLimit)
    where addresses[host] == nil && host != .root {
      addresses[host] = await self.addresses(
        of: host, given: answer.additionals, from: servers, until: deadline)
    }
    var generator = SeededGenerator(seed: .random(in: .min ... .max))
    let resolution = Resolution(
      services: answer.records, addresses: addresses, text: await text ?? TXTRecord(),
      using: &generator)
    guard let resolution else { throw .timedOut }
    return resolution
  }

  /// The addresses of a host, IPv6 first: those that came along, else those that are asked for.
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
