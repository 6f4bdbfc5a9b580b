package agg

import (
	"cmp"
	"unsafe"
)

// as reads *k as its underlying type U, which the caller has made sure of.
func as[U, K cmp.Ordered](k *K) U { return *(*U)(unsafe.Pointer(k)) }
