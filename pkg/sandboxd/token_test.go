// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxd_test

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"encoding/xml"
	"flag"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"testing"

	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"
	"sigs.k8s.io/yaml"

	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
)

// forms are a token in every place that somebody might print it from.
func forms() map[string]any {
	token := sandboxd.NewToken(rootSecret)
	type exported struct{ Token sandboxd.Token }
	type unexported struct{ token sandboxd.Token }
	type deep struct {
		inner *unexported
		list  []sandboxd.Token
		byKey map[string]unexported
		any   any
	}
	return map[string]any{
		"value":                    token,
		"pointer":                  &token,
		"interface":                fmt.Stringer(token),
		"exported field":           exported{token},
		"pointer to struct":        &exported{token},
		"unexported field":         unexported{token},
		"pointer to unexported":    &unexported{token},
		"slice":                    []sandboxd.Token{token},
		"array":                    [1]sandboxd.Token{token},
		"map value":                map[string]sandboxd.Token{"a": token},
		"map key":                  map[sandboxd.Token]int{token: 1},
		"slice of unexported":      []unexported{{token}},
		"deep":                     deep{&unexported{token}, []sandboxd.Token{token}, map[string]unexported{"a": {token}}, token},
		"static source":            sandboxd.StaticToken(token),
		"pointer to static source": new(sandboxd.StaticToken(token)),
		"claim":                    sandboxd.Claim{ID: "sb_1", Token: token},
		"client configuration":     sandboxd.Config{URL: "http://127.0.0.1:7777", Token: sandboxd.StaticToken(token)},
		"error":                    fmt.Errorf("with %v", token),
	}
}

// leaks reports whether text has the secret, as it is or as the verbs %x, %X,
// %q and %d would write it.
func leaks(text string) bool {
	var decimal []string
	for _, b := range []byte(rootSecret) {
		decimal = append(decimal, fmt.Sprint(b))
	}
	for _, form := range []string{
		rootSecret, fmt.Sprintf("%x", rootSecret), fmt.Sprintf("%X", rootSecret), fmt.Sprintf("% x", rootSecret), strings.Join(decimal, " "),
	} {
		if strings.Contains(text, form) {
			return true
		}
	}
	return false
}

func TestTokenIsNeverPrinted(t *testing.T) {
	cl := newClient(t, sandboxd.Config{})
	all := forms()
	all["client"], all["client value"] = cl, *cl
	all["file source"] = fileToken(t, tokenFile(t, rootSecret))
	for name, v := range all {
		t.Run(name, func(t *testing.T) {
			for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%+q", "%#q", "%x", "%X", "% x", "%#x", "%d", "%b", "%o", "%c", "%U", "%e", "%t", "%p", "%T", "%50v", "%-50s", "%.3s", "%z"} {
				if got := fmt.Sprintf(verb, v); leaks(got) {
					t.Errorf("%s gives %s", verb, got)
				}
			}
			for _, got := range []string{fmt.Sprint(v), fmt.Sprintln(v), fmt.Errorf("%w", errorLike{v}).Error(), string(fmt.Append(nil, v))} {
				if leaks(got) {
					t.Errorf("printed as %s", got)
				}
			}
		})
	}
	if got := fmt.Sprintf("%v %s %#v %x", all["value"], all["pointer"], all["value"], all["value"]); strings.Count(got, "[redacted]") != 4 {
		t.Errorf("got %s, want placeholders", got)
	}
}

// errorLike prints a value as an error's text.
type errorLike struct{ v any }

func (e errorLike) Error() string { return fmt.Sprint(e.v) }

func TestTokenIsNeverLogged(t *testing.T) {
	for name, v := range forms() {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			everything := &slog.HandlerOptions{Level: slog.Level(-100), AddSource: true}
			for _, h := range []slog.Handler{slog.NewTextHandler(&out, everything), slog.NewJSONHandler(&out, everything)} {
				l := slog.New(h)
				l.Info("message", "token", v)
				l.With("token", v).WithGroup("group").Debug("message", slog.Group("inner", "token", v))
			}
			k := textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(&out), textlogger.Verbosity(10)))
			k.V(10).Info("message", "token", v)
			k.WithValues("token", v).Error(errorLike{v}, "message")
			if out.Len() == 0 || leaks(out.String()) {
				t.Errorf("logged as %s", &out)
			}
		})
	}
}

// klog without a logger of its own takes another way to its output.
func TestTokenIsNeverLoggedByKlogItself(t *testing.T) {
	var out bytes.Buffer
	defer klog.CaptureState().Restore()
	flags := flag.NewFlagSet("klog", flag.PanicOnError)
	klog.InitFlags(flags)
	for name, value := range map[string]string{"logtostderr": "false", "stderrthreshold": "FATAL", "v": "10"} {
		if err := flags.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
	klog.SetOutput(&out)
	for name, v := range forms() {
		klog.InfoS("message", "form", name, "token", v)
		klog.ErrorS(errorLike{v}, "message", "token", v)
		klog.Infof("%v %+v", v, v)
		klog.Background().WithValues("token", v).Info("message")
	}
	klog.Flush()
	if out.Len() == 0 || leaks(out.String()) {
		t.Errorf("logged as %s", &out)
	}
}

func TestTokenIsNeverMarshalled(t *testing.T) {
	token := sandboxd.NewToken(rootSecret)
	type holder struct{ Token sandboxd.Token }
	for name, v := range map[string]any{
		"value": token, "pointer": &token, "field": holder{token}, "pointer to field": &holder{token}, "slice": []sandboxd.Token{token},
		"map value": map[string]any{"a": token}, "map key": map[sandboxd.Token]int{token: 1}, "claim": sandboxd.Claim{Token: token},
		"empty token": sandboxd.Token{},
	} {
		for format, marshal := range map[string]func(any) ([]byte, error){"JSON": json.Marshal, "YAML": yaml.Marshal} {
			if got, err := marshal(v); err == nil || leaks(err.Error()) || len(got) != 0 {
				t.Errorf("%s as %s: %s, error %v; want an error and nothing else", name, format, got, err)
			}
		}
	}
	var out bytes.Buffer
	if err := gob.NewEncoder(&out).Encode(holder{token}); err == nil || leaks(out.String()) {
		t.Errorf("gob: error %v, %q", err, &out)
	}
	if got, err := xml.Marshal(holder{token}); err == nil || leaks(string(got)) {
		t.Errorf("XML: error %v, %s", err, got)
	}
	if got := token.MarshalLog(); got != "[redacted]" {
		t.Errorf("MarshalLog gives %v", got)
	}
}

// Somebody's dump by reflection finds no string in a Token.
func TestTokenHasNoStringToReflectOn(t *testing.T) {
	var visit func(reflect.Value)
	visit = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.String:
			t.Errorf("a string field holds %q", v)
		case reflect.Struct:
			for i := range v.NumField() {
				visit(v.Field(i))
			}
		}
	}
	visit(reflect.ValueOf(sandboxd.NewToken(rootSecret)))
	visit(reflect.ValueOf(sandboxd.StaticToken(sandboxd.NewToken(rootSecret))))
}

func TestTokenValue(t *testing.T) {
	a, b, other := sandboxd.NewToken(rootSecret), sandboxd.NewToken(strings.Clone(rootSecret)), sandboxd.NewToken(sandboxSecret)
	if a != b || a == other || a.Reveal() != rootSecret || other.Reveal() != sandboxSecret {
		t.Error("tokens are equal exactly when their credentials are")
	}
	empty := sandboxd.NewToken("")
	if !empty.Empty() || empty != (sandboxd.Token{}) || empty.Reveal() != "" || a.Empty() {
		t.Error("the empty credential is the zero token")
	}
}
