package main

import (
	"context"
	"os"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"

	"github.com/tailrace-io/tailrace/connectors/files"
	"github.com/tailrace-io/tailrace/exec"
)

// refresh is the time between two looks at the job.
const refresh = 100 * time.Millisecond

// display is the standard error while a job runs. On a terminal it keeps a
// progress bar in the last line, below what is written to it; anywhere else it
// only passes on what is written. It is safe for concurrent use.
type display struct {
	file *os.File

	mu            sync.Mutex
	bars          *mpb.Progress // nil while no bar is shown
	bar           *mpb.Bar
	stop, stopped chan struct{}
}

func (d *display) Write(b []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.bars != nil {
		// A terminal has echoed a ^C where the cursor was, and the bar is
		// cleared from the column of the cursor on.
		_, _ = d.file.WriteString("\r")
		return d.bars.Write(b)
	}
	return d.file.Write(b)
}

// follow shows rows, rows/s, percent of the input and the time left.
func (d *display) follow(job *exec.Job, in string) {
	if !term.IsTerminal(int(d.file.Fd())) {
		return
	}
	total, err := files.ParquetRows(context.Background(), in)
	if err != nil {
		return // the job will report it
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.bars = mpb.New(mpb.WithOutput(d.file), mpb.WithRefreshRate(refresh))
	d.bar = d.bars.New(total, mpb.BarStyle().Lbound("").Rbound("").Filler("█").Tip("").Padding("░"),
		mpb.BarRemoveOnComplete(),
		mpb.BarWidth(30),
		mpb.PrependDecorators(decor.Percentage(decor.WC{W: 5, C: decor.DSyncSpaceR})),
		mpb.AppendDecorators(decor.Any(func(s decor.Statistics) string {
			return progress(s.Current, s.Total, job.Status().Running)
		})))
	d.stop, d.stopped = make(chan struct{}), make(chan struct{})
	go d.poll(job)
}

func (d *display) poll(job *exec.Job) {
	defer close(d.stopped)
	ticker := time.NewTicker(refresh)
	defer ticker.Stop()
	for {
		d.bar.SetCurrent(int64(readBy(job.Status().Operators)))
		select {
		case <-d.stop:
			return
		case <-ticker.C:
		}
	}
}

// close takes the bar away. What is written from now on is passed on.
func (d *display) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.bars == nil {
		return
	}
	close(d.stop)
	<-d.stopped
	d.bar.Abort(true)
	d.bars.Wait()
	d.bars = nil
}
