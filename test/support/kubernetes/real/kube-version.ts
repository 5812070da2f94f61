import { execFileSync } from 'node:child_process';

import type { ClusterCapabilities } from '../cluster.ts';

/** The first minor version of Kubernetes 1 that enforces rules in CEL by default. */
const CEL_SINCE = 29;
const STRICT_FIELD_VALIDATION_SINCE = 27;

/** Returns the minor version of Kubernetes 1 that a program belongs to. */
export function minorVersionOf(kubeApiserver: string): number {
  return minorIn(execFileSync(kubeApiserver, ['--version'], { encoding: 'utf8' }));
}

/** Returns the minor version in text such as `Kubernetes v1.34.1`. */
export function minorIn(text: string): number {
  const minor = /v1\.(\d+)/.exec(text)?.[1];
  if (minor === undefined) throw new Error(`not a version of Kubernetes: ${text}`);
  return Number(minor);
}

/** Capabilities of a real API server of that version. */
export function capabilitiesOf(
  minor: number,
  { namespaceController }: { readonly namespaceController: boolean },
): ClusterCapabilities {
  return {
    cel: minor >= CEL_SINCE,
    strictFieldValidation: minor >= STRICT_FIELD_VALIDATION_SINCE,
    rbac: true,
    tokens: true,
    faults: false,
    namespaceController,
    tables: true,
  };
}
