package main

import (
	"context"
	"os"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/tailrace-io/tailrace/connectors/files"
	"github.com/tailrace-io/tailrace/exec"
)

// showProgress shows rows, rows/s, percent of the input and the time left
// while the job runs, if the standard error is a terminal. The function it
// returns takes the display away.
func showProgress(job *exec.Job, in string) (done func()) {
	total, err := files.ParquetRows(context.Background(), in)
	if err != nil || !isTerminal(os.Stderr) {
		return func() {} // a missing file is the job's to report
	}
	p := mpb.New(mpb.WithOutput(os.Stderr), mpb.WithWidth(40), mpb.WithRefreshRate(100*time.Millisecond))
	start := time.Now()
	bar := p.AddBar(total,
		mpb.BarRemoveOnComplete(),
		mpb.PrependDecorators(decor.CountersNoUnit("%d / %d rows"), decor.Percentage(decor.WC{W: 5})),
		mpb.AppendDecorators(
			decor.Any(func(s decor.Statistics) string {
				return " " + grouped(int64(float64(s.Current)/max(time.Since(start).Seconds(), 1e-3))) + " rows/s"
			}),
			decor.Any(func(s decor.Statistics) string { return left(s.Current, s.Total, time.Since(start)) })))
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			bar.SetCurrent(rowsRead(job))
			select {
			case <-stop:
				return
			case <-time.After(100 * time.Millisecond):
			}
		}
	}()
	return func() {
		close(stop)
		<-stopped
		bar.Abort(true)
		p.Wait()
	}
}

func rowsRead(job *exec.Job) int64 {
	for _, o := range job.Status().Operators {
		if o.Name == "flights" {
			return int64(o.In)
		}
	}
	return 0
}

// left estimates the time to go.
func left(current, total int64, since time.Duration) string {
	if current == 0 {
		return ", ETA -"
	}
	rest := time.Duration(float64(since) * float64(total-current) / float64(current))
	return ", ETA " + rest.Round(100*time.Millisecond).String()
}
