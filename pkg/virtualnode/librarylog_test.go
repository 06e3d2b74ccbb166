// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualnode

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	pkgerrors "github.com/pkg/errors"
	vklog "github.com/virtual-kubelet/virtual-kubelet/log"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/klog/v2"
)

func TestLibraryLog(t *testing.T) {
	err := pkgerrors.Wrap(errors.New("cause"), "outer")
	for name, tc := range map[string]struct {
		log  func(vklog.Logger)
		want string
	}{
		"debug":            {func(l vklog.Logger) { l.Debug("a", "b") }, "level=DEBUG msg=ab"},
		"debug, formatted": {func(l vklog.Logger) { l.Debugf("a %d", 1) }, `level=DEBUG msg="a 1"`},
		"info":             {func(l vklog.Logger) { l.Info("a") }, "level=DEBUG+2 msg=a"},
		"info, formatted":  {func(l vklog.Logger) { l.Infof("a %d", 1) }, `level=DEBUG+2 msg="a 1"`},
		"warn":             {func(l vklog.Logger) { l.Warn("a") }, "level=WARN msg=a"},
		"warn, formatted":  {func(l vklog.Logger) { l.Warnf("a %d", 1) }, `level=WARN msg="a 1"`},
		"a retry":          {func(l vklog.Logger) { l.Warnf("requeuing %q due to failed sync", "a") }, `level=DEBUG+2 msg="requeuing \"a\" due to failed sync"`},
		"error":            {func(l vklog.Logger) { l.Error(err) }, `level=ERROR msg="outer: cause"`},
		"error, formatted": {func(l vklog.Logger) { l.Errorf("a %v", err) }, `level=ERROR msg="a outer: cause"`},
		"fatal":            {func(l vklog.Logger) { l.Fatal("a") }, "level=ERROR msg=a"},
		"fatal, formatted": {func(l vklog.Logger) { l.Fatalf("a %d", 1) }, `level=ERROR msg="a 1"`},
		"with a field":     {func(l vklog.Logger) { l.WithField("key", "ns/name").Warn("a") }, "level=WARN msg=a key=ns/name"},
		"with fields":      {func(l vklog.Logger) { l.WithFields(vklog.Fields{"b": 2, "a": 1}).Warn("a") }, "level=WARN msg=a a=1 b=2"},
		"with an error":    {func(l vklog.Logger) { l.WithError(err).Warn("a") }, `level=WARN msg=a err="outer: cause"`},
		"a conflict": {func(l vklog.Logger) {
			l.WithError(pkgerrors.Wrap(apierrors.NewConflict(corev1.Resource("pods"), "p", errors.New("modified")), "outer")).WithField("key", "a").Error("a")
		}, `level=DEBUG+2 msg=a err="outer: Operation cannot be fulfilled on pods \"p\": modified" key=a`},
		"with no error": {func(l vklog.Logger) { l.WithError(nil).Warn("a") }, "level=WARN msg=a"},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			handler := slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
				if a.Key == slog.TimeKey {
					return slog.Attr{}
				}
				return a
			}})
			ctx := withLibraryLog(klog.NewContext(t.Context(), logr.FromSlogHandler(handler)))
			tc.log(vklog.G(ctx))
			if got := strings.TrimSpace(out.String()); got != tc.want {
				t.Errorf("logged %s, want %s", got, tc.want)
			}
		})
	}
}
