import Foundation

/// A game server as Agones knows it: by default, as its local server describes one.
package struct AgonesObject: Sendable {
  /// A request that is answered with an error.
  struct Refusal: Error {
    let status: Int
    /// What a correct server would not do; nil if the answer is part of what can happen.
    var complaint: String?

    var json: String {
      #"{"error":"\#(complaint ?? "no")","code":\#(status),"message":"\#(complaint ?? "no")"}"#
    }
  }

  package struct Counter: Hashable, Sendable {
    package var count: Int
    package var capacity: Int

    package init(count: Int, capacity: Int) { (self.count, self.capacity) = (count, capacity) }
  }

  package struct List: Hashable, Sendable {
    package var values: [String]
    package var capacity: Int
  }

  package var state = "Scheduled"
  /// In seconds, but for the threshold, which counts periods.
  package var period = 3
  package var failureThreshold = 5
  package var initialDelay = 10
  package var isHealthDisabled = false
  /// Where players reach the server; empty as long as Agones does not know it.
  package var address = "127.0.0.1"
  /// The names and numbers of the ports that players use.
  package var ports: [(name: String, number: Int)] = [("default", 7_777)]
  package var counters = ["rooms": Counter(count: 1, capacity: 10)]
  package var lists = ["players": List(values: [], capacity: 100)]

  package init() {}

  /// How long the server may be silent.
  var patience: Duration { .seconds(period * failureThreshold) }

  /// Does what a request asks for, and returns the answer as JSON.
  mutating func handle(_ line: String, _ body: String) throws(Refusal) -> String {
    let words = line.split(separator: " ").map(String.init)
    guard words.count == 2 else { throw Refusal(status: 400, complaint: "no request") }
    switch (words[0], words[1]) {
    case ("GET", "/gameserver"):
      guard body.isEmpty else { throw Refusal(status: 400, complaint: "a body") }
      return json
    case ("POST", "/ready"): try turn(to: "Ready", body)
    case ("POST", "/allocate"): try turn(to: "Allocated", body)
    case ("POST", "/shutdown"): try turn(to: "Shutdown", body)
    case ("POST", "/health"): try checkEmpty(body)
    case ("PATCH", let path) where path.hasPrefix("/v1beta1/lists/"):
      return try setList(String(path.dropFirst(15)), body)
    case ("PATCH", let path) where path.hasPrefix("/v1beta1/counters/"):
      return try setCounter(String(path.dropFirst(18)), body)
    default: throw Refusal(status: 404, complaint: "no such request")
    }
    return "{}"
  }

  private mutating func turn(to state: String, _ body: String) throws(Refusal) {
    try checkEmpty(body)
    self.state = state
  }

  private func checkEmpty(_ body: String) throws(Refusal) {
    guard body == "{}" else { throw Refusal(status: 400, complaint: "the body is not {}") }
  }

  private mutating func setList(_ name: String, _ body: String) throws(Refusal) -> String {
    guard lists[name] != nil else { throw Refusal(status: 404) }
    let fields = try fields(of: body)
    guard let values = fields["values"] as? [String], Set(fields.keys) == ["capacity", "values"]
    else { throw Refusal(status: 400, complaint: "not a list") }
    let list = List(values: values, capacity: try number("capacity", in: fields))
    guard list.values.count <= list.capacity, Set(values).count == values.count else {
      throw Refusal(status: 400, complaint: "too many values, or one twice")
    }
    lists[name] = list
    return body
  }

  private mutating func setCounter(_ name: String, _ body: String) throws(Refusal) -> String {
    guard counters[name] != nil else { throw Refusal(status: 404) }
    let fields = try fields(of: body)
    let counter = Counter(
      count: try number("count", in: fields), capacity: try number("capacity", in: fields))
    guard fields.count == 2, 0...counter.capacity ~= counter.count else {
      throw Refusal(status: 400, complaint: "not a counter")
    }
    counters[name] = counter
    return body
  }

  private func fields(of body: String) throws(Refusal) -> [String: Any] {
    guard let value = try? JSONSerialization.jsonObject(with: Data(body.utf8)),
      let fields = value as? [String: Any]
    else { throw Refusal(status: 400, complaint: "the body is not JSON") }
    return fields
  }

  /// Numbers of 64 bits are strings.
  private func number(_ name: String, in fields: [String: Any]) throws(Refusal) -> Int {
    guard let text = fields[name] as? String, let number = Int(text) else {
      throw Refusal(status: 400, complaint: "\(name) is not a number in a string")
    }
    return number
  }

  private var json: String {
    """
    {"object_meta":{"name":"local","namespace":"default","uid":"1234","resource_version":"7",\
    "generation":"1","creation_timestamp":"1","deletion_timestamp":"0",\
    "annotations":{"note":"{\\"nested\\":[1,2]}"},"labels":{"islocal":"true"}},\
    "spec":{"health":{"disabled":\(isHealthDisabled),"period_seconds":\(period),\
    "failure_threshold":\(failureThreshold),"initial_delay_seconds":\(initialDelay)}},\
    "status":{"state":"\(state)","address":"\(address)","addresses":[],\
    "ports":[\(portsText)],"players":null,"counters":{},"lists":{}}}
    """
  }

  private var portsText: String {
    ports.map { #"{"name":"\#($0.name)","port":\#($0.number)}"# }.joined(separator: ",")
  }
}
