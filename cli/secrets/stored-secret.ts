import { CONFLICT, NOT_FOUND } from '../../controller/kubernetes/error-codes.ts';
import {
  KubernetesApiError,
  type KubernetesApi,
  type ResourceType,
} from '../../controller/kubernetes/kubernetes-api.ts';
import type { KubernetesObject } from '../../controller/kubernetes/objects.ts';
import { apiVersionOf } from '../../controller/kubernetes/resource-types.ts';
import { isRecord } from '../../shared/runtime/is-record.ts';
import { CommandFailure } from '../command-failure.ts';

const MANAGED_BY = 'app.kubernetes.io/managed-by';
const MANAGER = 'gatehouse';

/** What this command asks of the API server. */
export type SecretsApi = Pick<KubernetesApi, 'get' | 'create' | 'replace'>;

/** Where a Secret or ConfigMap is. */
export interface Place {
  readonly namespace: string;
  readonly name: string;
}

/** The content of a Secret or ConfigMap that this command writes. */
export interface WantedContent {
  /** Of a Secret. */
  readonly type?: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly data: Readonly<Record<string, string>>;
}

/** Reads a Secret or ConfigMap. Resolves with undefined if it does not exist. */
export async function findStored(
  api: SecretsApi,
  type: ResourceType,
  place: Place,
): Promise<KubernetesObject | undefined> {
  try {
    return await api.get(type, place);
  } catch (error) {
    if (error instanceof KubernetesApiError && error.code === NOT_FOUND) return undefined;
    throw error;
  }
}

/** Creates a Secret or ConfigMap, or replaces what was read. Throws `CommandFailure` if it changed since. */
export async function writeStored(
  api: SecretsApi,
  target: { readonly type: ResourceType; readonly place: Place },
  before: KubernetesObject | undefined,
  { type: secretType, annotations = {}, data }: WantedContent,
): Promise<void> {
  const { type, place } = target;
  const object = {
    ...before,
    apiVersion: apiVersionOf(type),
    kind: type.kind,
    ...(secretType !== undefined && { type: secretType }),
    metadata: {
      ...(before?.metadata ?? place),
      labels: { ...before?.metadata.labels, [MANAGED_BY]: MANAGER },
      annotations: { ...before?.metadata.annotations, ...annotations },
    },
    data,
  };
  try {
    if (before === undefined) await api.create(type, place.namespace, object);
    else await api.replace(type, place, object);
  } catch (error) {
    const isConflict = error instanceof KubernetesApiError && error.code === CONFLICT;
    if (!isConflict) throw error;
    throw new CommandFailure(
      `${type.kind} ${place.namespace}/${place.name} was changed meanwhile: run the command again`,
      { cause: error },
    );
  }
}

/** Returns whether this command wrote an object. It changes no other. */
export function isOurs(object: KubernetesObject): boolean {
  return object.metadata.labels?.[MANAGED_BY] === MANAGER;
}

/** Returns the texts in `data` of a Secret or ConfigMap, as they are stored. */
export function storedData(object: KubernetesObject | undefined): ReadonlyMap<string, string> {
  const data = object?.['data'];
  const entries = Object.entries(isRecord(data) ? data : {});
  return new Map(entries.flatMap(([key, text]) => (typeof text === 'string' ? [[key, text]] : [])));
}
