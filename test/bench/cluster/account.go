// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"path/filepath"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// tokenSeconds is longer than any run.
const tokenSeconds = 6 * 60 * 60

// allowKWOK gives KWOK an account that may do everything, so that both subjects
// are authenticated, authorized and recorded in the same way.
func (c *Cluster) allowKWOK(ctx context.Context) error {
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: KWOKAccount}}
	_, err := c.Client.CoreV1().ServiceAccounts(Name).Create(ctx, account, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: Name + "-" + KWOKAccount},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: Name, Name: KWOKAccount}},
	}
	_, err = c.Client.RbacV1().ClusterRoleBindings().Create(ctx, binding, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	return nil
}

// Kubeconfig writes one for a service account and returns its path. The token
// names the host, as that of a Pod there does, which the admission policy asks
// for.
func (c *Cluster) Kubeconfig(ctx context.Context, account string) (string, error) {
	host, err := c.Client.CoreV1().Nodes().Get(ctx, c.Host().Name, metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	lifetime := int64(tokenSeconds)
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
		ExpirationSeconds: &lifetime,
		BoundObjectRef:    &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Node", Name: host.Name, UID: host.UID},
	}}
	request, err = c.Client.CoreV1().ServiceAccounts(Name).CreateToken(ctx, account, request, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("ask for a token of %s: %w", account, err)
	}
	k := clientcmdapi.NewConfig()
	k.Clusters[account] = &clientcmdapi.Cluster{Server: c.admin.Host, CertificateAuthorityData: c.admin.CAData, CertificateAuthority: c.admin.CAFile}
	k.AuthInfos[account] = &clientcmdapi.AuthInfo{Token: request.Status.Token}
	k.Contexts[account] = &clientcmdapi.Context{Cluster: account, AuthInfo: account}
	k.CurrentContext = account
	file := filepath.Join(c.Dir, account+".kubeconfig")
	return file, clientcmd.WriteToFile(*k, file)
}
