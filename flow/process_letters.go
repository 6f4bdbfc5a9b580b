package flow

import "reflect"

// deadPort is an output port for dead letters with that record type.
type deadPort struct {
	port   int
	record reflect.Type
}

// alsoFallible prepares n, which fallible has seen, for dead letters of the
// records T of its second input, and returns the port that they leave by: the
// one of the first input where the types are the same, and one of its own
// where not.
func alsoFallible[T any](n *Node) (port int) {
	if n.policy.letters() == "" || n.deadType == reflect.TypeFor[T]() {
		return n.DeadPort
	}
	port = n.OutPorts
	n.OutPorts++
	n.DeadPort++
	n.secondDead = deadPort{port: port, record: reflect.TypeFor[T]()}
	return port
}
