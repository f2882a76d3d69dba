@testable import CaromProtocol

// `#expect` cannot contain a mutating call; these functions wrap the ones that tests compare.

func nextAction(_ machine: inout Matchmaker) -> MatchmakerAction? { machine.pollAction() }
func nextEvent(_ machine: inout Connection) -> ConnectionEvent? { machine.pollEvent() }
func nextLinkAction(_ machine: inout Connection) -> LinkAction? { machine.pollLinkAction() }
