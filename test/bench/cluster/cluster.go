// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/cocoonstack/vk-sandbox/test/e2e/clusterinfo"
)

const (
	// Name is the Helm release, its namespace, and the daemon's account.
	Name        = "vk-sandbox-bench"
	DaemonUser  = "system:serviceaccount:" + Name + ":" + Name
	KWOKAccount = "kwok"
	chart       = "charts/vk-sandbox"
)

// Cluster is the control plane with all that both subjects need.
type Cluster struct {
	Info    *clusterinfo.Info
	admin   *rest.Config
	Client  kubernetes.Interface
	dynamic dynamic.Interface
	// Dir holds the kubeconfigs and the daemon's state, on a real disk.
	Dir string
	// bursts is how many there were; the last one's Pods have its number.
	bursts int
}

// Open installs the chart without a Pod, for its account, rights, CRDs
// and admission policy: what the daemon may do is what it may do in production,
// and costs the API server what it costs there.
func Open(ctx context.Context) (c *Cluster, err error) {
	info, err := clusterinfo.Load(".")
	if err != nil {
		return nil, err
	}
	if info.AuditLog == "" {
		return nil, errors.New("this cluster keeps no audit log, from which requests are counted; use the one of hack/cluster (CLUSTER=local)")
	}
	c = &Cluster{Info: info}
	if c.admin, err = clientcmd.BuildConfigFromFlags("", info.Kubeconfig); err != nil {
		return nil, fmt.Errorf("read the kubeconfig: %w", err)
	}
	c.admin.QPS = -1
	if c.dynamic, err = dynamic.NewForConfig(c.admin); err != nil {
		return nil, err
	}
	typed := rest.CopyConfig(c.admin)
	typed.ContentType = runtime.ContentTypeProtobuf
	if c.Client, err = kubernetes.NewForConfig(typed); err != nil {
		return nil, err
	}
	if c.Dir, err = os.MkdirTemp("", "vk-sandbox-bench-"); err != nil {
		return nil, err
	}
	if err := c.install(ctx); err != nil {
		return nil, errors.Join(err, c.Remove(context.WithoutCancel(ctx)))
	}
	return c, nil
}

func (c *Cluster) install(ctx context.Context) error {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: Name, Labels: map[string]string{"pod-security.kubernetes.io/enforce": "privileged"},
	}}
	_, err := c.Client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	for _, command := range [][]string{
		{c.Info.Kubectl, "--namespace=agent-sandbox-system", "rollout", "status", "deployment/agent-sandbox-controller", "--timeout=60s"},
		{
			c.Info.Helm, "upgrade", Name, chart, "--install", "--namespace=" + Name, "--take-ownership",
			"--set=nodeSelector.bench=none", "--set=inventory.publish=true",
		},
	} {
		if err := c.command(ctx, command...); err != nil {
			return err
		}
	}
	return c.allowKWOK(ctx)
}

// Remove leaves the cluster as it was.
func (c *Cluster) Remove(ctx context.Context) error {
	return errors.Join(
		c.command(ctx, c.Info.Helm, "uninstall", Name, "--namespace="+Name, "--ignore-not-found", "--wait"),
		c.command(ctx, c.Info.Kubectl, "delete", "namespace", Name, "--ignore-not-found", "--wait=false"),
		c.command(ctx, c.Info.Kubectl, "delete", "clusterrolebinding", Name+"-"+KWOKAccount, "--ignore-not-found"),
		os.RemoveAll(c.Dir),
	)
}

func (c *Cluster) command(ctx context.Context, argv ...string) error {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+c.Info.Kubeconfig)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%v: %w\n%s", argv, err, out)
	}
	return nil
}

// Host is the host whose virtual node the daemon serves.
func (c *Cluster) Host() clusterinfo.Host { return c.Info.Hosts[0] }

// Schedulable reports what keeps Pods from a node.
func (c *Cluster) Schedulable(ctx context.Context, name string) error {
	node, err := c.Client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	for _, taint := range node.Spec.Taints {
		if taint.Key == corev1.TaintNodeNotReady || taint.Key == corev1.TaintNodeUnreachable {
			return fmt.Errorf("taint %s keeps Pods from node %s", taint.Key, name)
		}
	}
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady && condition.Status == corev1.ConditionTrue {
			return nil
		}
	}
	return fmt.Errorf("node %s is not Ready", name)
}

// RemoveNode deletes a Node, which may be gone already.
func (c *Cluster) RemoveNode(ctx context.Context, name string) error {
	return ignoreNotFound(c.Client.CoreV1().Nodes().Delete(ctx, name, metav1.DeleteOptions{}))
}
