// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package program_test

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/cocoonstack/vk-sandbox/pkg/program"
)

func TestLabels(t *testing.T) {
	for text, want := range map[string]program.Labels{
		"": {}, "a=b": {"a": "b"}, "a=b, c=": {"a": "b", "c": ""}, "x.io/a=b,x.io/a=b": {"x.io/a": "b"},
	} {
		l := program.Labels{"before": "1"}
		if err := l.Set(text); err != nil || !maps.Equal(l, want) {
			t.Errorf("%q is %v, %v; want %v", text, l, err, want)
		}
		again := program.Labels{}
		if err := again.Set(l.String()); err != nil || !maps.Equal(again, want) {
			t.Errorf("%q becomes %v, %v", l.String(), again, err)
		}
	}
	for text, want := range map[string]string{
		"a": "not key=value", "a=b,": "not key=value", "a b=c": "label key", "a=b/c": "of label a", "a=b,a=c": "given twice",
	} {
		l := program.Labels{"before": "1"}
		if err := l.Set(text); err == nil || !strings.Contains(err.Error(), want) || l["before"] != "1" {
			t.Errorf("%q: %v, and the labels are %v", text, err, l)
		}
	}
}

func TestChecks(t *testing.T) {
	for name, tc := range map[string]struct {
		err  error
		want string
	}{
		"listen on all":            {program.CheckListenAddr(":10260"), ""},
		"listen on IPv6":           {program.CheckListenAddr("[::1]:0"), ""},
		"listen without port":      {program.CheckListenAddr("localhost"), "want [host]:port"},
		"listen on a named port":   {program.CheckListenAddr(":https"), "from 0 to 65535"},
		"address":                  {program.CheckHostPort("host:1"), ""},
		"address without host":     {program.CheckHostPort(":1"), "want host:port"},
		"address at port 0":        {program.CheckHostPort("host:0"), "from 1 to 65535"},
		"address beyond all ports": {program.CheckHostPort("host:65536"), "from 1 to 65535"},
		"a time":                   {program.CheckPositive(time.Second), ""},
		"no time":                  {program.CheckPositive(0), "above zero"},
		"no time, allowed":         {program.CheckNotNegative(0), ""},
		"back in time":             {program.CheckPositive(-1), "negative"},
		"JSON":                     {program.CheckLogFormat(program.LogJSON), ""},
		"XML":                      {program.CheckLogFormat("xml"), "text or json"},
	} {
		if tc.want == "" && tc.err != nil || tc.want != "" && (tc.err == nil || !strings.Contains(tc.err.Error(), tc.want)) {
			t.Errorf("%s: %v, want %q", name, tc.err, tc.want)
		}
	}
}
