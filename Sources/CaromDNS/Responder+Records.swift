import CaromCore

extension Responder {
  /// The domain of multicast DNS.
  static let domain: Name = "local"
  /// Under which the types on a link are listed (RFC 6763 §9).
  static let typesName: Name = "_services._dns-sd._udp.local"

  /// All records of a claim on a link, whether it is ours yet or not.
  func records(of claim: Claim, on link: Link) -> [OwnedRecord] {
    switch claim.purpose {
    case .host:
      let name = claim.name
      return link.addresses.map { address in
        OwnedRecord(
          record: Record(
            name, .address(address.address), timeToLive: TimeToLive.host, flushesCache: true),
          isUnique: true, owner: claim.id)
      }
    case .service(let service): return records(of: service, claim)
    }
  }

  private func records(of service: Registration, _ claim: Claim) -> [OwnedRecord] {
    let name = claim.name
    let type = service.type.name()
    let target = host.name
    let unique = [
      Record(
        name, .service(priority: 0, weight: 0, port: service.port, target: target),
        timeToLive: TimeToLive.host, flushesCache: true),
      Record(
        name, .text(service.text.encoded), timeToLive: TimeToLive.other, flushesCache: true),
    ]
    var shared = [Record(type, .pointer(name), timeToLive: TimeToLive.other)]
    for subtype in service.subtypes {
      guard let parent = try? type.prefixed(by: "_sub").prefixed(by: subtype) else { continue }
      shared.append(Record(parent, .pointer(name), timeToLive: TimeToLive.other))
    }
    shared.append(Record(Self.typesName, .pointer(type), timeToLive: TimeToLive.other))
    return shared.map { OwnedRecord(record: $0, isUnique: false, owner: claim.id) }
      + unique.map { OwnedRecord(record: $0, isUnique: true, owner: claim.id) }
  }

  /// Collects anew what is owned on each link.
  mutating func rebuild() {
    for index in links.indices {
      let link = links[index].link
      var owned: [OwnedRecord] = []
      var types: Set<Record.Identity> = []
      for claim in services where claim.isOwned(on: link.index) {
        owned += records(of: claim, on: link).filter {
          $0.record.name != Self.typesName || types.insert($0.record.identity).inserted
        }
      }
      if host.isOwned(on: link.index) { owned += records(of: host, on: link) }
      links[index].set(owned)
    }
  }

  /// Says goodbye to what was owned and is no more (RFC 6762 §10.1).
  mutating func sendGoodbyes(_ before: [[OwnedRecord]]) {
    for (index, old) in before.enumerated() where index < links.count {
      var gone: [Record] = []
      for owned in old where links[index].owned(owned.record.identity) == nil {
        var record = owned.record
        record.timeToLive = 0
        gone.append(record)
      }
      for response in Response.pack(gone) {
        multicast(response.payload, on: links[index].link)
      }
    }
  }
}
