package table

import (
	"reflect"
	"unsafe"
)

// BatchHasherOf returns a function that hashes many keys: hashes[i] becomes
// the hash of keys[i] by [HasherOf], for all keys. For integers the loop is
// inside, which saves a call for each.
func BatchHasherOf[K comparable]() (func(keys []K, hashes []uint64), error) {
	one, err := HasherOf[K]()
	if err != nil {
		return nil, err
	}
	t := reflect.TypeFor[K]()
	switch t.Kind() {
	case reflect.Int, reflect.Int64, reflect.Uint, reflect.Uint64, reflect.Uintptr:
		if t.Size() == 8 {
			return func(keys []K, hashes []uint64) {
				words := unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(keys))), len(keys))
				hashes = hashes[:len(words)]
				for i, w := range words {
					hashes[i] = HashUint64(w)
				}
			}, nil
		}
	case reflect.String:
		return func(keys []K, hashes []uint64) {
			texts := unsafe.Slice((*string)(unsafe.Pointer(unsafe.SliceData(keys))), len(keys))
			hashes = hashes[:len(texts)]
			for i, s := range texts {
				hashes[i] = HashString(s)
			}
		}, nil
	}
	return func(keys []K, hashes []uint64) {
		hashes = hashes[:len(keys)]
		for i := range keys {
			hashes[i] = one(&keys[i])
		}
	}, nil
}
