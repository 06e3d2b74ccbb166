// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/retry"

	"github.com/cocoonstack/vk-sandbox/pkg/generated/clientset/versioned"
)

// intruder is a client with a stolen token of the daemon's account.
type intruder struct {
	kubernetes.Interface
	objects versioned.Interface
}

// stolen returns an intruder whose token is bound to the Pod; without a Pod it is unbound.
func stolen(t *testing.T, s *suite, pod *corev1.Pod) intruder {
	t.Helper()
	request := &authenticationv1.TokenRequest{}
	if pod != nil {
		request.Spec.BoundObjectRef = &authenticationv1.BoundObjectReference{Kind: "Pod", APIVersion: "v1", Name: pod.Name, UID: pod.UID}
	}
	token, err := s.client.CoreV1().ServiceAccounts(release).CreateToken(t.Context(), release, request, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.BuildConfigFromFlags("", s.info.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	config = rest.AnonymousClientConfig(config)
	config.BearerToken, config.UserAgent, config.QPS = token.Status.Token, testUserAgent, -1
	core, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	objects, err := versioned.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return intruder{core, objects}
}

// dryRun keeps allowed requests without effect. The API server authorizes a dry run like
// any other request.
var dryRun = []string{metav1.DryRunAll}

// writes are requests that can damage objects with the node's name.
func (i intruder) writes(node string) map[string]func(context.Context) error {
	apply := metav1.PatchOptions{DryRun: dryRun, FieldManager: testUserAgent, Force: new(true)}
	patch := metav1.PatchOptions{DryRun: dryRun}
	document := func(apiVersion, kind, rest string) []byte {
		return fmt.Appendf(nil, `{"apiVersion":%q,"kind":%q,"metadata":{"name":%q}%s}`, apiVersion, kind, node, rest)
	}
	leases := i.CoordinationV1().Leases(corev1.NamespaceNodeLease)
	statuses, inventories := i.objects.SandboxV1alpha1().NodeClaimStatuses(), i.objects.SandboxV1beta1().NodeInventories()
	return map[string]func(context.Context) error{
		"create the Node": func(ctx context.Context) error {
			_, err := i.CoreV1().Nodes().Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node}}, metav1.CreateOptions{DryRun: dryRun})
			return err
		},
		"taint the Node": func(ctx context.Context) error {
			_, err := i.CoreV1().Nodes().Patch(ctx, node, types.StrategicMergePatchType,
				[]byte(`{"spec":{"taints":[{"key":"intruder","effect":"NoExecute"}]}}`), patch)
			return err
		},
		"label the Node": func(ctx context.Context) error {
			_, err := i.CoreV1().Nodes().Patch(ctx, node, types.StrategicMergePatchType, []byte(`{"metadata":{"labels":{"intruder":""}}}`), patch)
			return err
		},
		"write the Node's status": func(ctx context.Context) error {
			_, err := i.CoreV1().Nodes().Patch(ctx, node, types.StrategicMergePatchType, []byte(`{"status":{"capacity":{"intruder.example/x":"1"}}}`), patch, "status")
			return err
		},
		"create the Lease": func(ctx context.Context) error {
			_, err := leases.Create(ctx, &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: node}}, metav1.CreateOptions{DryRun: dryRun})
			return err
		},
		"update the Lease": func(ctx context.Context) error {
			return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
				lease, err := leases.Get(ctx, node, metav1.GetOptions{})
				if err != nil {
					return err
				}
				lease.Spec.HolderIdentity = new("intruder")
				_, err = leases.Update(ctx, lease, metav1.UpdateOptions{DryRun: dryRun})
				return err
			})
		},
		"apply the NodeInventory": func(ctx context.Context) error {
			_, err := inventories.Patch(ctx, node, types.ApplyPatchType, document("sandbox.cocoonstack.io/v1beta1", "NodeInventory", `,"address":"192.0.2.1:1"`), apply)
			return err
		},
		"apply the NodeClaimStatus": func(ctx context.Context) error {
			_, err := statuses.Patch(ctx, node, types.ApplyPatchType, document("sandbox.cocoonstack.io/v1alpha1", "NodeClaimStatus", ""), apply)
			return err
		},
		"apply the NodeClaimStatus' status": func(ctx context.Context) error {
			_, err := statuses.Patch(ctx, node, types.ApplyPatchType, document("sandbox.cocoonstack.io/v1alpha1", "NodeClaimStatus", `,"status":{"truncatedCount":1}`), apply, "status")
			return err
		},
	}
}

// writesToPod are requests that can damage a Pod.
func (i intruder) writesToPod(namespace, name string) map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"write the Pod's status": func(ctx context.Context) error {
			_, err := i.CoreV1().Pods(namespace).Patch(ctx, name, types.StrategicMergePatchType, []byte(`{"status":{"message":"intruder"}}`), metav1.PatchOptions{DryRun: dryRun}, "status")
			return err
		},
		"delete the Pod": func(ctx context.Context) error {
			return i.CoreV1().Pods(namespace).Delete(ctx, name, metav1.DeleteOptions{DryRun: dryRun, GracePeriodSeconds: new(int64)})
		},
	}
}

// beyondRights are requests that no daemon makes.
func (i intruder) beyondRights(namespace string) map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"list secrets": func(ctx context.Context) error {
			_, err := i.CoreV1().Secrets("").List(ctx, metav1.ListOptions{})
			return err
		},
		"get secrets": func(ctx context.Context) error {
			_, err := i.CoreV1().Secrets(release).Get(ctx, tokenSecret, metav1.GetOptions{})
			return err
		},
		"list configmaps": func(ctx context.Context) error {
			_, err := i.CoreV1().ConfigMaps("").List(ctx, metav1.ListOptions{})
			return err
		},
		"create pods": func(ctx context.Context) error {
			_, err := i.CoreV1().Pods(namespace).Create(ctx, newPod("intruder"), metav1.CreateOptions{DryRun: dryRun})
			return err
		},
		"delete sandboxes": func(ctx context.Context) error {
			return i.CoreV1().RESTClient().Delete().AbsPath("/apis/agents.x-k8s.io/v1beta1/namespaces/"+namespace+"/sandboxes/box").
				Param("dryRun", metav1.DryRunAll).Do(ctx).Error()
		},
		"delete nodes": func(ctx context.Context) error {
			return i.CoreV1().Nodes().Delete(ctx, "none", metav1.DeleteOptions{DryRun: dryRun})
		},
	}
}

// TestCrossNodeTokenWritesNothing checks that the token of one host cannot write objects
// of another host, virtual or real, and that an unbound token cannot write at all.
func TestCrossNodeTokenWritesNothing(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	own, other := f.info.Hosts[0], f.info.Hosts[len(f.info.Hosts)-1]
	if own == other {
		t.Fatal("this test needs two hosts")
	}
	f.createSandbox(newPod("box"))
	pods := map[string]string{own.VirtualNode(): "own", other.VirtualNode(): "other"}
	daemons := map[string]*corev1.Pod{}
	for _, h := range f.info.Hosts {
		if name, ok := pods[h.VirtualNode()]; ok {
			pod := newPod(name)
			pod.Spec.NodeSelector[corev1.LabelHostname] = h.VirtualNode()
			f.run(pod)
		}
		daemon, err := f.daemonOn(t.Context(), h.Name)
		if err != nil {
			t.Fatal(err)
		}
		if daemons[h.Name], err = f.client.CoreV1().Pods(release).Get(t.Context(), daemon, metav1.GetOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "objects of both nodes", func(ctx context.Context) error {
		var errs []error
		for node := range pods {
			for _, o := range publishedObjects {
				_, err := f.jsonpath(ctx, o.resource, node, "{.metadata.uid}")
				errs = append(errs, err)
			}
		}
		return errors.Join(errs...)
	})

	bound, unbound := stolen(t, f.suite, daemons[own.Name]), stolen(t, f.suite, nil)
	expect := func(where string, requests map[string]func(context.Context) error, want string) {
		t.Helper()
		for what, request := range requests {
			t.Run(where+"/"+what, func(t *testing.T) { checkAnswer(t, request(t.Context()), want) })
		}
	}
	onlyNode := fmt.Sprintf("a daemon on host %s may write only what is named %s", own.Name, own.VirtualNode())
	onlyPods := fmt.Sprintf("a daemon on host %s may write only Pods bound to %s", own.Name, own.VirtualNode())
	const noHost = "this token names none"
	expect("own node", bound.writes(own.VirtualNode()), "")
	expect("own Pod", bound.writesToPod(f.namespace, "own"), "")
	expect("another virtual node", bound.writes(other.VirtualNode()), onlyNode)
	// A missing object can only be created, and a real node publishes nothing.
	expect("a new node", without(bound.writes("new-sandboxd"), "taint", "label", "update", "status"), onlyNode)
	expect("a real node", without(bound.writes(other.Name), "NodeClaimStatus' status"), onlyNode)
	expect("own real node", without(bound.writes(own.Name), "NodeClaimStatus' status"), onlyNode)
	expect("a Pod of another virtual node", bound.writesToPod(f.namespace, "other"), onlyPods)
	expect("a Pod of a real node", bound.writesToPod(release, daemons[other.Name].Name), onlyPods)
	expect("a Pod of the own real node", bound.writesToPod(release, daemons[own.Name].Name), onlyPods)
	expect("no Pod's token, own node", unbound.writes(own.VirtualNode()), noHost)
	expect("no Pod's token, own Pod", unbound.writesToPod(f.namespace, "own"), noHost)
	expect("beyond rights", bound.beyondRights(f.namespace), "cannot")
}

// without removes the requests whose name contains one of the words.
func without(requests map[string]func(context.Context) error, words ...string) map[string]func(context.Context) error {
	maps.DeleteFunc(requests, func(what string, _ func(context.Context) error) bool {
		return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(what, word) })
	})
	return requests
}

// checkAnswer checks that the request was refused with the text, or succeeded if want is
// empty.
func checkAnswer(t *testing.T, err error, want string) {
	t.Helper()
	switch {
	case want == "" && err != nil && !apierrors.IsAlreadyExists(err):
		t.Errorf("refused: %v", err)
	case want != "" && (!apierrors.IsForbidden(err) || !strings.Contains(err.Error(), want)):
		t.Errorf("answer %v, want it forbidden with %q", err, want)
	}
}
