// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

const testToken = "SECRET-7f3a91"

func TestTokenSources(t *testing.T) {
	const mounted = "/etc/vk-sandbox/sandboxd/token"
	tests := map[string]struct {
		values             string
		file, secret, key  string
		madeHere, checksum bool
	}{
		"none":            {},
		"existing Secret": {values: `sandboxd: {existingSecret: {name: mine, key: node}}`, file: mounted, secret: "mine", key: "node"},
		"token": {
			values: `sandboxd: {token: ` + testToken + `}`, file: mounted,
			secret: "vk-sandbox-sandboxd-token", key: "token", madeHere: true, checksum: true,
		},
		"own file": {values: `sandboxd: {tokenFile: /host/token}`, file: "/host/token"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			rendered := render(t, install{values: test.values})
			if got := argument(t, container(t, rendered), "--sandboxd-token-file", ""); got != test.file {
				t.Errorf("--sandboxd-token-file=%q, want %q", got, test.file)
			}
			checkTokenVolume(t, rendered, test.secret, test.key)
			secrets := all[*corev1.Secret](rendered)
			if (len(secrets) == 1) != test.madeHere {
				t.Fatalf("%d Secrets rendered, want one: %v", len(secrets), test.madeHere)
			}
			if test.madeHere && (secrets[0].Name != test.secret || string(secrets[0].Data[test.key]) != testToken) {
				t.Errorf("Secret %s holds %q, want %s with the token", secrets[0].Name, secrets[0].Data, test.secret)
			}
			_, checksum := daemonSet(t, rendered).Spec.Template.Annotations["checksum/sandboxd-token"]
			if checksum != test.checksum {
				t.Errorf("checksum annotation: %v, want %v", checksum, test.checksum)
			}
		})
	}
}

// checkTokenVolume checks that the Secret's key is mounted, for root only, as the daemon's
// token file. Without a Secret there must be no volume.
func checkTokenVolume(t *testing.T, rendered objects, secret, key string) {
	t.Helper()
	var want *corev1.SecretVolumeSource
	var wantMount string
	if secret != "" {
		mode := int32(0o400)
		want = &corev1.SecretVolumeSource{
			SecretName: secret, DefaultMode: &mode, Items: []corev1.KeyToPath{{Key: key, Path: "token"}},
		}
		wantMount = "/etc/vk-sandbox/sandboxd"
	}
	var got *corev1.SecretVolumeSource
	for _, volume := range podSpec(t, rendered).Volumes {
		if volume.Name == "sandboxd-token" {
			got = volume.Secret
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("token volume (-want +got):\n%s", diff)
	}
	var gotMount string
	for _, mount := range container(t, rendered).VolumeMounts {
		if mount.Name == "sandboxd-token" && mount.ReadOnly {
			gotMount = mount.MountPath
		}
	}
	if gotMount != wantMount {
		t.Errorf("token mounted at %q, want %q", gotMount, wantMount)
	}
}

// The daemon uses its token until sandboxd refuses it, so a changed token must replace the
// Pods.
func TestTokenChangeReplacesPods(t *testing.T) {
	checksum := func(token string) string {
		rendered := render(t, install{values: `sandboxd: {token: ` + token + `}`})
		return daemonSet(t, rendered).Spec.Template.Annotations["checksum/sandboxd-token"]
	}
	if checksum("one") == checksum("two") {
		t.Error("the Pod template is the same for two tokens")
	}
	if checksum("one") != checksum("one") {
		t.Error("the Pod template changes without a new token")
	}
}

// Only the Secret may contain the token, because more users can read other objects.
func TestTokenIsInTheSecretOnly(t *testing.T) {
	in := install{values: `sandboxd: {token: ` + testToken + `}`}
	for _, object := range renderAll(t, in) {
		if _, isSecret := object.(*corev1.Secret); isSecret {
			continue
		}
		if strings.Contains(marshal(t, object), testToken) {
			t.Errorf("the token is in a %T", object)
		}
	}
	files, err := renderFiles(t, in)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(files["vk-sandbox/templates/NOTES.txt"], testToken) {
		t.Error("the token is in the notes")
	}
}

func marshal(t *testing.T, object runtime.Object) string {
	t.Helper()
	text, err := yaml.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
