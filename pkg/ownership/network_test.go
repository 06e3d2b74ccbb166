// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package ownership_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"

	"github.com/cocoonstack/vk-sandbox/pkg/ownership"
)

// roundTrip is a transport without a network.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// authorizerOver is an Authorizer whose clients use a transport.
func authorizerOver(transport roundTrip, mapper meta.RESTMapper) *ownership.Authorizer {
	cfg := &rest.Config{Host: "http://api", QPS: -1, Transport: transport}
	return ownership.NewAuthorizer(dynamic.NewForConfigOrDie(cfg), mapper, corev1client.NewForConfigOrDie(cfg), &cluster{})
}

func sandboxMapper() meta.RESTMapper {
	m := meta.NewDefaultRESTMapper(nil)
	m.Add(schema.GroupVersionKind{Group: "agents.x-k8s.io", Version: "v1beta1", Kind: "Sandbox"}, meta.RESTScopeNamespace)
	return m
}

// slowMapper is a mapper whose discovery gets no answer.
type slowMapper struct {
	meta.RESTMapper
	meta.RESTMapperWithContext
}

func (slowMapper) RESTMappingWithContext(ctx context.Context, _ schema.GroupKind, _ ...string) (*meta.RESTMapping, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// One verdict takes 15 seconds at most, discovery included, and preserves.
func TestSlowAPIServer(t *testing.T) {
	for _, c := range []struct {
		name   string
		mapper meta.RESTMapper
		ask    func(context.Context, *ownership.Authorizer) ownership.Decision
		want   verdict
	}{
		{"owner", sandboxMapper(), func(ctx context.Context, a *ownership.Authorizer) ownership.Decision {
			return a.Owner(ctx, "team-red", owner)
		}, unread("owner")},
		{"discovery of the owner", slowMapper{}, func(ctx context.Context, a *ownership.Authorizer) ownership.Decision {
			return a.Owner(ctx, "team-red", owner)
		}, unread("owner")},
		{"bare Pod", nil, func(ctx context.Context, a *ownership.Authorizer) ownership.Decision {
			return a.Pod(ctx, "team-red", "notebook-a", "U1")
		}, unread("bare Pod")},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := authorizerOver(func(r *http.Request) (*http.Response, error) {
					<-r.Context().Done()
					return nil, r.Context().Err()
				}, c.mapper)
				start := time.Now()
				d := c.ask(context.Background(), a)
				c.want.check(t, d)
				if !errors.Is(d.Err, context.DeadlineExceeded) {
					t.Errorf("error %v, want the deadline", d.Err)
				}
				if took := time.Since(start); took != 15*time.Second {
					t.Errorf("took %v, want 15s", took)
				}
			})
		})
	}
}

// A connection that breaks proves nothing, however often the client retries.
func TestConnectionBreaks(t *testing.T) {
	for name, broken := range map[string]error{"reset": syscall.ECONNRESET, "closed": io.EOF, "cut": io.ErrUnexpectedEOF} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := authorizerOver(func(*http.Request) (*http.Response, error) { return nil, broken }, sandboxMapper())
				unread("owner").check(t, a.Owner(context.Background(), "team-red", owner))
				unread("bare Pod").check(t, a.Pod(context.Background(), "team-red", "notebook-a", "U1"))
			})
		})
	}
}

// countingMapper counts its resets.
type countingMapper struct {
	meta.RESTMapper
	resets int
}

func (m *countingMapper) Reset() { m.resets++ }

// An owner that stays unverifiable asks for a discovery every five minutes.
func TestDiscoveryIsRepeatedInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mapper := &countingMapper{RESTMapper: sandboxMapper()}
		a := authorizerOver(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusNotFound, Header: http.Header{}, Body: http.NoBody}, nil
		}, mapper)
		for _, want := range []int{1, 1, 2} {
			unnamed("owner").check(t, a.Owner(context.Background(), "team-red", owner))
			if mapper.resets != want {
				t.Errorf("%d discoveries, want %d", mapper.resets, want)
			}
			time.Sleep(150 * time.Second)
		}
	})
}

// The caller's own deadline holds too.
func TestCallerGivesUp(t *testing.T) {
	s := startServer(t)
	s.objects[ownerPath] = failure(404, metav1.StatusReasonNotFound, details("notebook-a", "agents.x-k8s.io", "sandboxes"))
	a := s.authorizer(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	unread("owner").check(t, a.Owner(ctx, "team-red", owner))
	unread("bare Pod").check(t, a.Pod(ctx, "team-red", "notebook-a", "U1"))
}
