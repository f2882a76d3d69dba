import CaromCore
import CaromCrypto
import FuzzSupport

/// Checks that decoding a connect token never traps, that each token has one encoding in bytes and
/// in text, that a host accepts only tokens that the backend has made and nobody has changed,
/// within their time, and that each token is used once.
@c(LLVMFuzzerTestOneInput)
public func fuzzOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = fuzzInput(data, count)
  var script = FuzzScript(bytes)
  switch script.next() & 3 {
  case 0: decodeBytes(Array(bytes.dropFirst()))
  case 1: decodeText(String(decoding: bytes.dropFirst(), as: UTF8.self))
  case 2: present(&script)
  default: useTickets(&script)
  }
  return 0
}

private let backendKey: BackendKey = {
  var generator = SeededGenerator(seed: 1)
  return BackendKey(using: &generator)
}()
private let start = UnixTime(milliseconds: 1_000)
private let player = PeerID(high: 1, low: 2)

private func endpoint(_ number: UInt8) -> Endpoint {
  number & 1 == 0
    ? Endpoint(.v4(0x0A00_0000 | UInt32(number)), port: 7777)
    : Endpoint(.v6(high: 0x2001_0DB8, low: UInt64(number), scope: 0), port: 7777)
}

private func decodeBytes(_ bytes: [UInt8]) {
  let reader = TicketReader(keys: [backendKey], start: start)
  precondition(
    (try? reader.read(bytes.span, at: UnixTime(milliseconds: 2_000))) == nil,
    "nobody but the backend makes tickets")
  guard let token = try? ConnectToken(decoding: bytes.span) else { return }
  precondition(token.bytes == bytes, "encoding must undo decoding")
  precondition((try? ConnectToken(token.text)) == token, "the text is that of the token")
  precondition(token.open(with: backendKey) == nil)
}

private func decodeText(_ text: String) {
  guard let token = try? ConnectToken(text) else { return }
  precondition(token.text == text, "every token must have only one text")
  precondition(token.bytes.count <= ConnectToken.maximumLength)
}

/// Makes a token as the script says, perhaps changes its ticket, and presents it to a host.
private func present(_ script: inout FuzzScript) {
  let hosts = script.read(Int(script.next() % 7))
  let data = script.read(Int(script.next()))
  let made = Int64(script.next()) * 100
  let lifetime = 1 + Int64(script.next()) * 100
  let now = UnixTime(milliseconds: Int64(script.next()) * 100)
  let own = script.next()
  var generator = SeededGenerator(seed: UInt64(script.next()))
  let isForDoors = script.next() & 3 == 1
  let (endpoints, time) = (hosts.map(endpoint), UnixTime(milliseconds: made))
  guard
    let token = try? isForDoors
      ? ConnectToken(
        asking: endpoints.map { RoutedEndpoint($0) }, player: player,
        lifetime: .milliseconds(lifetime), data: data,
        key: backendKey, at: time, using: &generator)
      : ConnectToken(
        for: endpoints, player: player, lifetime: .milliseconds(lifetime), data: data,
        key: backendKey, at: time, using: &generator)
  else { preconditionFailure("a token within the limits is made") }
  precondition(token.isForDoors == isForDoors)
  precondition(token.bytes.count <= ConnectToken.maximumLength)
  precondition(token.open(with: backendKey)?.data == data)
  var ticket = token.ticketBytes
  for _ in 0..<script.next() & 3 { ticket[index(&script, ticket.count)] ^= script.next() }
  if script.next() & 7 == 1 { ticket.removeLast(min(ticket.count, Int(script.next()))) }
  if script.next() & 7 == 1 { ticket += script.read(Int(script.next())) }
  let isHeld = script.next() & 7 == 1
  let reader = TicketReader(keys: [backendKey], start: start, endpoints: [endpoint(own)])
  let accepted = try? reader.read(ticket.span, isHeld: isHeld, at: now)
  let isInTime =
    (isHeld || now.milliseconds < made + lifetime)
    && (isForDoors || (isHeld || made <= now.milliseconds) && made > start.milliseconds)
  let isRight =
    ticket == token.ticketBytes && isInTime
    && hosts.contains { endpoint($0) == endpoint(own) }
  precondition((accepted != nil) == isRight, "a host accepts what the backend has made for it")
  if let accepted {
    precondition(accepted.player == player && accepted.data == data)
    precondition(accepted.isForDoors == isForDoors, "a door token never gives a seat")
  }
}

private func index(_ script: inout FuzzScript, _ count: Int) -> Int {
  (Int(script.next()) << 8 | Int(script.next())) % count
}

/// Tickets that expire one after another.
private let tickets: [AcceptedTicket] = {
  var generator = SeededGenerator(seed: 2)
  let reader = TicketReader(keys: [backendKey], start: start)
  return (0..<6).map { number in
    guard
      let token = try? ConnectToken(
        for: [], player: player, lifetime: .milliseconds(100 * (number + 1)), key: backendKey,
        at: UnixTime(milliseconds: 2_000), using: &generator),
      let ticket = try? reader.read(token.ticketBytes.span, at: UnixTime(milliseconds: 2_000))
    else { preconditionFailure("a ticket within the limits is accepted") }
    return ticket
  }
}()

private func useTickets(_ script: inout FuzzScript) {
  var used = UsedTickets<UInt8>(capacity: 3)
  var owners: [Int: UInt8] = [:]
  var latest = UnixTime(milliseconds: 2_000)
  while !script.isAtEnd {
    let (operation, owner) = (script.next(), script.next() & 3)
    let number = Int(operation >> 4) % tickets.count
    let ticket = tickets[number]
    switch operation & 7 {
    case 0: latest = max(latest, UnixTime(milliseconds: 2_000 + 10 * Int64(script.next())))
    case 1: used.hold(ticket, by: owner)
    case 2: used.drop(ticket)
    case 3:
      used.release(ticket)
      // Nobody, not even a later owner with the same name, may use it again.
      if owners[number] != nil { owners[number] = .max }
    default:
      let early = UnixTime(milliseconds: latest.milliseconds - Int64(operation >> 3 & 1) * 100)
      switch used.use(ticket, by: owner, at: early) {
      case .first:
        precondition(owners[number] == nil, "a ticket is used once, whatever time it is")
        owners[number] = owner
        latest = max(latest, early)
      case .repeated: precondition(owners[number] == owner)
      case .used: precondition(owners[number] != nil && owners[number] != owner)
      case .expired, .full: break
      }
    }
    precondition(used.count <= used.capacity)
  }
}
