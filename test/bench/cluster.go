// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

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
	// benchName is the Helm release, its namespace, and the daemon's account.
	benchName   = "vk-sandbox-bench"
	daemonUser  = "system:serviceaccount:" + benchName + ":" + benchName
	kwokAccount = "kwok"
	sandboxCRD  = "test/e2e/testdata/sandbox-crd.yaml"
	chart       = "charts/vk-sandbox"
)

// cluster is the control plane with all that both subjects need.
type cluster struct {
	info    *clusterinfo.Info
	admin   *rest.Config
	client  kubernetes.Interface
	dynamic dynamic.Interface
	// dir holds the kubeconfigs and the daemon's state, on a real disk.
	dir string
	// bursts is how many there were; the last one's Pods have its number.
	bursts int
}

// openCluster installs the chart without a Pod, for its account, rights, CRDs
// and admission policy: what the daemon may do is what it may do in production,
// and costs the API server what it costs there.
func openCluster(ctx context.Context) (c *cluster, err error) {
	info, err := clusterinfo.Load(".")
	if err != nil {
		return nil, err
	}
	if info.AuditLog == "" {
		return nil, errors.New("this cluster keeps no audit log, from which requests are counted; use the one of hack/cluster (CLUSTER=local)")
	}
	c = &cluster{info: info}
	if c.admin, err = clientcmd.BuildConfigFromFlags("", info.Kubeconfig); err != nil {
		return nil, fmt.Errorf("read the kubeconfig: %w", err)
	}
	c.admin.QPS = -1
	if c.dynamic, err = dynamic.NewForConfig(c.admin); err != nil {
		return nil, err
	}
	typed := rest.CopyConfig(c.admin)
	typed.ContentType = runtime.ContentTypeProtobuf
	if c.client, err = kubernetes.NewForConfig(typed); err != nil {
		return nil, err
	}
	if c.dir, err = os.MkdirTemp("", "vk-sandbox-bench-"); err != nil {
		return nil, err
	}
	if err := c.install(ctx); err != nil {
		return nil, errors.Join(err, c.remove(context.WithoutCancel(ctx)))
	}
	return c, nil
}

func (c *cluster) install(ctx context.Context) error {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: benchName, Labels: map[string]string{"pod-security.kubernetes.io/enforce": "privileged"},
	}}
	_, err := c.client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	for _, command := range [][]string{
		{c.info.Kubectl, "apply", "--filename=" + sandboxCRD},
		{c.info.Kubectl, "wait", "--for=condition=Established", "crd/sandboxes.agents.x-k8s.io", "--timeout=30s"},
		{
			c.info.Helm, "upgrade", benchName, chart, "--install", "--namespace=" + benchName, "--take-ownership",
			"--set=nodeSelector.bench=none", "--set=inventory.publish=true",
		},
	} {
		if err := c.command(ctx, command...); err != nil {
			return err
		}
	}
	return c.allowKWOK(ctx)
}

// remove leaves the cluster as it was.
func (c *cluster) remove(ctx context.Context) error {
	return errors.Join(
		c.command(ctx, c.info.Helm, "uninstall", benchName, "--namespace="+benchName, "--ignore-not-found", "--wait"),
		c.command(ctx, c.info.Kubectl, "delete", "namespace", benchName, "--ignore-not-found", "--wait=false"),
		c.command(ctx, c.info.Kubectl, "delete", "clusterrolebinding", benchName+"-"+kwokAccount, "--ignore-not-found"),
		c.command(ctx, c.info.Kubectl, "delete", "--filename="+sandboxCRD, "--ignore-not-found", "--wait=false"),
		os.RemoveAll(c.dir),
	)
}

func (c *cluster) command(ctx context.Context, argv ...string) error {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+c.info.Kubeconfig)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%v: %w\n%s", argv, err, out)
	}
	return nil
}

// host is the host whose virtual node the daemon serves.
func (c *cluster) host() clusterinfo.Host { return c.info.Hosts[0] }
