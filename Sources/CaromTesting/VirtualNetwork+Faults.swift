import CaromCore

extension VirtualNetwork {
  /// Pulls the machine's cable: datagrams vanish, also those on their way; streams wait.
  public mutating func cut(_ host: VirtualHost) {
    machines[host.machine].isCut = true
    note("cut: machine of \(host.id)")
  }

  /// Plugs the cable in again: what streams held back is sent again.
  public mutating func restore(_ host: VirtualHost) {
    machines[host.machine].isCut = false
    note("restored: machine of \(host.id)")
    resumeStreams()
  }

  /// Ends the process as `kill -9` does: its kernel finishes its streams, closes its sockets and
  /// refuses further calls. The host gets no more events until it binds, listens or connects anew.
  public mutating func kill(_ host: VirtualHost) {
    note("killed: \(host.id)")
    closeSockets(of: host)
    for number in streams.indices {
      for end in ends(of: number, at: host) { close(end) }
    }
  }

  /// Stops the machine with all that runs on it: silence, until `reboot`.
  public mutating func crash(_ host: VirtualHost) {
    note("crashed: machine of \(host.id)")
    machines[host.machine].isCrashed = true
    for process in hosts where process.machine == host.machine {
      closeSockets(of: process)
      for number in streams.indices {
        for end in ends(of: number, at: process) { forget(end) }
      }
    }
  }

  /// Starts a crashed machine again: it knows nothing of its streams, and answers what still comes
  /// for them with a reset.
  public mutating func reboot(_ host: VirtualHost) {
    note("rebooted: machine of \(host.id)")
    machines[host.machine].isCrashed = false
    resumeStreams()
  }

  private mutating func closeSockets(of host: VirtualHost) {
    for number in machines[host.machine].sockets where sockets[number].host == host.id {
      close(VirtualSocket(host: host.id, number: number))
    }
    machines[host.machine].listeners.removeAll { $0.host == host.id }
  }

  private func ends(of number: Int, at host: VirtualHost) -> [VirtualStream] {
    [.caller, .listener].compactMap { streams[number].end(number, $0) }.filter {
      $0.host == host.id
    }
  }

  /// The end's memory is gone, and with it what it did not send yet.
  private mutating func forget(_ end: VirtualStream) {
    streams[end.number][toward: end.side].isUnwanted = true
    let away = end.side.other
    streams[end.number][toward: away].pieces.removeAll()
    streams[end.number][toward: away].waiting = 0
    streams[end.number][toward: away].isFinished = true
    if !streams[end.number].isOpen { streams[end.number][toward: end.side].isDead = true }
  }
}
