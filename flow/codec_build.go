package flow

import (
	"errors"
	"fmt"
	"math/bits"
	"reflect"
	"time"
)

// planner builds the plans of a type and of the types within it.
type planner struct {
	lookup func(reflect.Type) (any, bool)
	plans  map[reflect.Type]*plan
}

// An array joins the fixed block only while that takes few moves: a loop over
// its elements is cheaper than a long list of moves.
const mostArrayMoves = 16

var timeType = reflect.TypeFor[time.Time]()

// Values of these packages' types mean nothing outside of their process or
// must not be copied, whatever their fields are.
var unstorablePackages = map[string]string{
	"sync":         "locks and other types of package sync can't be stored",
	"sync/atomic":  "atomics can't be stored",
	"unique":       "handles of package unique can't be stored",
	"weak":         "weak pointers can't be stored",
	"reflect":      "types of package reflect can't be stored",
	"hash/maphash": "the seeds of package hash/maphash can't be stored",
}

// planOf builds the plan of t. path is the way from the outermost type to t.
// A type may contain itself, by way of a pointer, slice or map. Their plans are
// handed out while they are built, and look at those of their elements when
// they encode, not before.
func (b *planner) planOf(t reflect.Type, path string) (*plan, error) {
	if p, ok := b.plans[t]; ok {
		return p, nil
	}
	p := &plan{size: t.Size()}
	b.plans[t] = p
	err := b.build(p, t, path)
	p.finish()
	return p, err
}

func (b *planner) build(p *plan, t reflect.Type, path string) error {
	own, err := b.ownCoding(t)
	switch {
	case err != nil:
		return at(path, err)
	case own != nil:
		p.parts = []part{{coding: own}}
		return nil
	}
	if why, ok := unstorablePackages[t.PkgPath()]; ok {
		return at(path, fmt.Errorf("%v: %s", t, why))
	}
	if m, ok := scalarMove(t.Kind()); ok {
		p.fixed, p.moves = m.n, []move{m}
		return nil
	}
	switch t.Kind() {
	case reflect.Complex64, reflect.Complex128:
		width := int(t.Size() / 2)
		p.fixed, p.moves = 2*width, []move{{n: 2 * width, width: width}}
	case reflect.String:
		p.parts = []part{{coding: stringCoding{}}}
	case reflect.Struct:
		return b.buildStruct(p, t, path)
	case reflect.Array:
		return b.buildArray(p, t, path)
	case reflect.Slice:
		c := newSliceCoding(t)
		p.parts = []part{{coding: c}} // before planOf, which may come back to t
		c.elem, err = b.planOf(t.Elem(), path+"[]")
	case reflect.Pointer:
		c := &pointerCoding{typ: t.Elem()}
		p.parts = []part{{coding: c}}
		c.elem, err = b.planOf(t.Elem(), path)
	case reflect.Map:
		c := &mapCoding{typ: t}
		p.parts = []part{{coding: c}}
		if c.key, err = b.planOf(t.Key(), path+"[key]"); err == nil {
			c.value, err = b.planOf(t.Elem(), path+"[value]")
		}
	default:
		return at(path, errors.New(unstorable(t)))
	}
	return err
}

func (b *planner) buildStruct(p *plan, t reflect.Type, path string) error {
	for i := range t.NumField() {
		f := t.Field(i)
		way := f.Name
		if path != "" {
			way = path + "." + f.Name
		}
		sub, err := b.planOf(f.Type, way)
		if err != nil {
			return err
		}
		p.place(sub, f.Offset, f.Name)
	}
	return nil
}

func (b *planner) buildArray(p *plan, t reflect.Type, path string) error {
	if t.Len() == 0 || t.Size() == 0 {
		return nil // nothing to store, and [0]func() marks types as not comparable
	}
	elem, err := b.planOf(t.Elem(), path+"[]")
	if err != nil {
		return err
	}
	switch n := t.Len(); {
	case len(elem.parts) == 0 && len(elem.moves) == 1 && uintptr(elem.fixed) == elem.size:
		m := elem.moves[0]
		m.n *= n
		p.fixed, p.moves = m.n, []move{m}
	case len(elem.parts) == 0 && n*len(elem.moves) <= mostArrayMoves:
		for i := range n {
			p.place(elem, uintptr(i)*elem.size, "")
		}
	default:
		p.parts = []part{{coding: &arrayCoding{elem: elem, n: n}}}
	}
	return nil
}

// scalarMove is the move of a bool, an integer or a float.
func scalarMove(k reflect.Kind) (move, bool) {
	const wide = bits.UintSize == 64
	switch k {
	case reflect.Bool:
		return move{n: 1, width: 1, kind: moveBool}, true
	case reflect.Int8, reflect.Uint8:
		return move{n: 1, width: 1}, true
	case reflect.Int16, reflect.Uint16:
		return move{n: 2, width: 2}, true
	case reflect.Int32, reflect.Uint32, reflect.Float32:
		return move{n: 4, width: 4}, true
	case reflect.Int64, reflect.Uint64, reflect.Float64:
		return move{n: 8, width: 8}, true
	case reflect.Int:
		if !wide {
			return move{n: 8, width: 8, kind: moveInt}, true
		}
		return move{n: 8, width: 8}, true
	case reflect.Uint:
		if !wide {
			return move{n: 8, width: 8, kind: moveUint}, true
		}
		return move{n: 8, width: 8}, true
	}
	return move{}, false
}

// unstorable says why values of t can't be stored.
func unstorable(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Func:
		return "functions can't be stored"
	case reflect.Chan:
		return "channels can't be stored"
	case reflect.Interface:
		return fmt.Sprintf("interfaces (%v) can't be stored, for their types aren't known beforehand", t)
	case reflect.UnsafePointer, reflect.Uintptr:
		return fmt.Sprintf("addresses (%v) can't be stored", t)
	}
	return fmt.Sprintf("values of kind %v can't be stored", t.Kind())
}

// at says where within the outermost type something is wrong.
func at(path string, err error) error {
	if path == "" {
		return err
	}
	return fmt.Errorf("field %s: %w", path, err)
}
