// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualnode

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"github.com/go-logr/logr"
	vklog "github.com/virtual-kubelet/virtual-kubelet/log"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/klog/v2"
)

// libraryInfo is the level of virtual-kubelet's information lines. It logs at least one
// line for each Pod it handles, which in klog is verbosity 2.
const libraryInfo = slog.Level(-2)

// libraryLog writes virtual-kubelet's log lines to our logger, with their fields. The
// library's own adapters do not suffice: the one for klog writes fields into the message
// and errors with their stack traces, and the one for slog panics on a message that is
// not a string, which the library does log.
type libraryLog struct {
	out *slog.Logger
	// conflict is true if the line is about a write that met a newer object. The write is
	// retried, so the line is logged as information.
	conflict bool
}

// withLibraryLog returns a context whose logger virtual-kubelet writes to.
func withLibraryLog(ctx context.Context) context.Context {
	return vklog.WithLogger(ctx, libraryLog{out: slog.New(logr.ToSlogHandler(klog.FromContext(ctx)))})
}

func (l libraryLog) level(of slog.Level) slog.Level {
	if l.conflict {
		return min(of, libraryInfo)
	}
	return of
}

func (l libraryLog) log(level slog.Level, args []any) {
	level = l.level(level)
	if ctx := context.Background(); l.out.Enabled(ctx, level) {
		l.out.Log(ctx, level, fmt.Sprint(args...))
	}
}

func (l libraryLog) logf(level slog.Level, format string, args []any) {
	level = l.level(level)
	if ctx := context.Background(); l.out.Enabled(ctx, level) {
		l.out.Log(ctx, level, fmt.Sprintf(format, args...))
	}
}

func (l libraryLog) Debug(args ...any)            { l.log(slog.LevelDebug, args) }
func (l libraryLog) Debugf(f string, args ...any) { l.logf(slog.LevelDebug, f, args) }
func (l libraryLog) Info(args ...any)             { l.log(libraryInfo, args) }
func (l libraryLog) Infof(f string, args ...any)  { l.logf(libraryInfo, f, args) }
func (l libraryLog) Warn(args ...any)             { l.log(slog.LevelWarn, args) }
func (l libraryLog) Warnf(f string, args ...any)  { l.logf(warnLevel(f), f, args) }
func (l libraryLog) Error(args ...any)            { l.log(slog.LevelError, args) }
func (l libraryLog) Errorf(f string, args ...any) { l.logf(slog.LevelError, f, args) }

// warnLevel is the level of a warning, by its format. Some are normal for a Pod that
// waits or has ended and are repeated meanwhile; the Pod's status and events report the
// same.
func warnLevel(format string) slog.Level {
	for _, usual := range []string{"requeuing ", "skipping sync of pod ", "forgetting "} {
		if strings.HasPrefix(format, usual) {
			return libraryInfo
		}
	}
	return slog.LevelWarn
}

// Fatal and Fatalf do not end the process: main decides that.
func (l libraryLog) Fatal(args ...any)            { l.log(slog.LevelError, args) }
func (l libraryLog) Fatalf(f string, args ...any) { l.logf(slog.LevelError, f, args) }

func (l libraryLog) WithField(key string, value any) vklog.Logger {
	l.out = l.out.With(key, value)
	return l
}

func (l libraryLog) WithFields(fields vklog.Fields) vklog.Logger {
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		l.out = l.out.With(key, fields[key])
	}
	return l
}

// WithError adds only the error's text: the library's errors print their stack with other
// format verbs.
func (l libraryLog) WithError(err error) vklog.Logger {
	if err == nil {
		return l
	}
	return libraryLog{out: l.out.With("err", err.Error()), conflict: apierrors.IsConflict(err)}
}
