package flow

import (
	"math"
	"time"
)

// Time is an event time: microseconds since the Unix epoch, UTC. The zero
// time.Time and the years 0001 to 9999 fit.
type Time int64

// MinTime is before every event, MaxTime after every event: a watermark of
// MaxTime says that an input has ended.
const (
	MinTime Time = math.MinInt64
	MaxTime Time = math.MaxInt64
)

// TimeOf converts t, truncating it to microseconds.
func TimeOf(t time.Time) Time { return Time(t.UnixMicro()) }

// AsTime converts t to a time.Time in UTC.
func (t Time) AsTime() time.Time { return time.UnixMicro(int64(t)).UTC() }

// Add returns t+d, truncated to microseconds; it saturates at MinTime and
// MaxTime, which are fixed points.
func (t Time) Add(d time.Duration) Time {
	if t == MinTime || t == MaxTime {
		return t
	}
	us := Time(d.Microseconds())
	sum := t + us
	switch {
	case us > 0 && sum < t:
		return MaxTime
	case us < 0 && sum > t:
		return MinTime
	}
	return sum
}

// Sub returns t-u. It saturates at the range of a time.Duration, about 292
// years.
func (t Time) Sub(u Time) time.Duration {
	const most = math.MaxInt64 / int64(time.Microsecond)
	diff := t - u
	switch {
	case t >= u && (diff < 0 || int64(diff) > most):
		return math.MaxInt64
	case t < u && (diff >= 0 || int64(diff) < -most):
		return math.MinInt64
	}
	return time.Duration(diff) * time.Microsecond
}

// String formats t as RFC 3339 with microseconds, and the two ends of time as
// "-inf" and "+inf".
func (t Time) String() string {
	switch t {
	case MinTime:
		return "-inf"
	case MaxTime:
		return "+inf"
	}
	return t.AsTime().Format("2006-01-02T15:04:05.999999Z07:00")
}
