import type { RenderedObject } from './helm.ts';

/** A container, as far as the tests look at it. */
export interface RenderedContainer {
  readonly name: string;
  readonly securityContext?: Readonly<Record<string, unknown>>;
  readonly env?: readonly {
    readonly valueFrom?: { readonly secretKeyRef?: { readonly name: string } };
  }[];
  readonly volumeMounts?: readonly { readonly name: string }[];
}

/** The spec of a pod, as far as the tests look at it. */
export interface RenderedPodSpec {
  readonly serviceAccountName?: string;
  readonly automountServiceAccountToken?: boolean;
  readonly hostNetwork?: boolean;
  readonly securityContext?: Readonly<Record<string, unknown>>;
  readonly containers: readonly RenderedContainer[];
  readonly initContainers?: readonly RenderedContainer[];
  readonly volumes?: readonly {
    readonly name: string;
    readonly secret?: { readonly secretName: string };
    readonly configMap?: { readonly name: string };
    readonly hostPath?: unknown;
  }[];
}

/** A pod, or the template of one. */
export interface RenderedPod {
  /** Kind, namespace and name of its owner. */
  readonly owner: string;
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly spec: RenderedPodSpec;
}

/** Returns the pods of rendered objects. */
export function podsOf(objects: readonly RenderedObject[]): readonly RenderedPod[] {
  return objects.flatMap((object) => {
    const { kind, metadata } = object;
    // The API server would refuse objects of these kinds that have another form.
    const spec = object['spec'] as { template?: Template } & RenderedPodSpec;
    const { namespace = '', name } = metadata;
    const owner = `${kind} ${namespace}/${name}`;
    if (kind === 'Pod') return [{ owner, namespace, labels: metadata.labels, spec }];
    if (!['Deployment', 'StatefulSet', 'Job'].includes(kind) || spec.template === undefined) {
      return [];
    }
    const { template } = spec;
    return [{ owner, namespace, labels: template.metadata.labels, spec: template.spec }];
  });
}

interface Template {
  readonly metadata: { readonly labels: Readonly<Record<string, string>> };
  readonly spec: RenderedPodSpec;
}

/** Returns the objects that a pod cannot start without, as `KIND NAMESPACE/NAME`. */
export function referencesOf({ namespace, spec }: RenderedPod): readonly string[] {
  const containers = [...spec.containers, ...(spec.initContainers ?? [])];
  const secrets = [
    ...(spec.volumes ?? []).flatMap(({ secret }) => secret?.secretName ?? []),
    ...containers.flatMap(({ env = [] }) =>
      env.flatMap(({ valueFrom }) => valueFrom?.secretKeyRef?.name ?? []),
    ),
  ];
  const configMaps = (spec.volumes ?? []).flatMap(({ configMap }) => configMap?.name ?? []);
  const accounts = spec.serviceAccountName === undefined ? [] : [spec.serviceAccountName];
  return [
    ...secrets.map((name) => `Secret ${namespace}/${name}`),
    ...configMaps.map((name) => `ConfigMap ${namespace}/${name}`),
    ...accounts.map((name) => `ServiceAccount ${namespace}/${name}`),
  ];
}
