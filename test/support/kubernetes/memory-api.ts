import {
  KubernetesApiError,
  type KubernetesApi,
  type ResourceType,
} from '../../../controller/kubernetes/kubernetes-api.ts';
import type { KubernetesObject } from '../../../controller/kubernetes/objects.ts';

/** A request, before it is carried out. */
export interface MemoryRequest {
  readonly verb: 'get' | 'create' | 'replace' | 'apply-status';
  readonly plural: string;
  readonly name: string;
  readonly object?: unknown;
}

interface Place {
  readonly namespace?: string;
  readonly name: string;
}

const MICRO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/;

/**
 * Objects of an API server in this process, for tests of timing: no connection, and responses in the
 * same turn of the event loop unless `before` delays them.
 *
 * As strict as a real one about `uid`, `resourceVersion`, `MicroTime`, and names that are in use.
 * The `uid` of the first object of a name is `uid-NAME`, that of the next `uid-NAME-2`.
 */
export class MemoryApi implements Pick<
  KubernetesApi,
  'get' | 'create' | 'replace' | 'applyStatus'
> {
  readonly requests: MemoryRequest[] = [];
  /** Runs before every request; an error that it throws is the response. */
  before: (request: MemoryRequest) => void | Promise<void> = () => undefined;
  readonly #objects = new Map<string, KubernetesObject>();
  /** Number of objects that each name has had. */
  readonly #created = new Map<string, number>();
  #version = 0;

  async get(type: ResourceType, place: Place): Promise<KubernetesObject> {
    await this.#ask({ verb: 'get', plural: type.plural, name: place.name });
    return structuredClone(this.#existing(type, place));
  }

  async create(
    type: ResourceType,
    namespace: string | undefined,
    object: object,
  ): Promise<KubernetesObject> {
    const { metadata, ...rest } = checked(type, object);
    const place = { ...(namespace !== undefined && { namespace }), name: metadata.name };
    await this.#ask({ verb: 'create', plural: type.plural, name: metadata.name, object });
    if (metadata.resourceVersion !== undefined) {
      throw refusal(
        400,
        'BadRequest',
        'resourceVersion should not be set on objects to be created',
      );
    }
    if (this.#objects.has(keyOf(type, place))) throw refusal(409, 'AlreadyExists', 'exists');
    const now = new Date().toISOString().replace(/\.\d+Z$/, 'Z');
    const uid = this.#nextUid(keyOf(type, place), metadata.name);
    const identity = { uid, creationTimestamp: now, generation: 1 };
    return this.#store(type, { ...rest, metadata: { ...metadata, ...place, ...identity } });
  }

  async replace(type: ResourceType, place: Place, object: object): Promise<KubernetesObject> {
    const next = checked(type, object);
    await this.#ask({ verb: 'replace', plural: type.plural, name: place.name, object });
    const { metadata } = this.#existing(type, place);
    if (next.metadata.resourceVersion !== metadata.resourceVersion) {
      throw refusal(409, 'Conflict', 'the object has been modified');
    }
    return this.#store(type, next);
  }

  async applyStatus(
    type: ResourceType,
    place: { readonly namespace: string; readonly name: string; readonly uid?: string },
    status: object,
  ): Promise<KubernetesObject> {
    const copy = structuredClone(status);
    await this.#ask({
      verb: 'apply-status',
      plural: type.plural,
      name: place.name,
      object: copy,
    });
    const live = this.#existing(type, place);
    if (place.uid !== undefined && place.uid !== live.metadata.uid) {
      throw refusal(409, 'Conflict', 'Precondition failed: UID in precondition');
    }
    const applied: KubernetesObject & { readonly status: object } = { ...live, status: copy };
    return this.#store(type, applied);
  }

  /** Deletes an object, as an administrator. */
  remove(type: ResourceType, place: Place): void {
    this.#objects.delete(keyOf(type, place));
  }

  /** Changes an object, as an administrator. */
  edit(
    type: ResourceType,
    place: Place,
    change: (object: KubernetesObject) => KubernetesObject,
  ): void {
    this.#store(type, change(this.#existing(type, place)));
  }

  /** Returns an object as stored; undefined if there is none. */
  read(type: ResourceType, place: Place): KubernetesObject | undefined {
    return structuredClone(this.#objects.get(keyOf(type, place)));
  }

  #nextUid(key: string, name: string): string {
    const count = (this.#created.get(key) ?? 0) + 1;
    this.#created.set(key, count);
    return count === 1 ? `uid-${name}` : `uid-${name}-${String(count)}`;
  }

  async #ask(request: MemoryRequest): Promise<void> {
    this.requests.push(request);
    await this.before(request);
  }

  #existing(type: ResourceType, place: Place): KubernetesObject {
    const object = this.#objects.get(keyOf(type, place));
    if (object === undefined) throw refusal(404, 'NotFound', `${place.name} not found`);
    return object;
  }

  #store(type: ResourceType, object: KubernetesObject): KubernetesObject {
    this.#version += 1;
    const resourceVersion = String(this.#version);
    const stored = structuredClone({
      ...object,
      metadata: { ...object.metadata, resourceVersion },
    });
    this.#objects.set(keyOf(type, stored.metadata), stored);
    return structuredClone(stored);
  }
}

function keyOf({ plural }: ResourceType, { namespace = '', name }: Place): string {
  return `${plural}/${namespace}/${name}`;
}

/** Checks what an API server checks while it parses. */
function checked({ plural }: ResourceType, object: object): KubernetesObject {
  // It has been through JSON, as on its way to a server; its form is checked below.
  const parsed = JSON.parse(JSON.stringify(object)) as KubernetesObject & {
    readonly spec?: Readonly<Record<string, unknown>>;
  };
  for (const field of ['acquireTime', 'renewTime']) {
    const time = plural === 'leases' ? parsed.spec?.[field] : undefined;
    if (time === undefined || (typeof time === 'string' && MICRO_TIME.test(time))) continue;
    throw refusal(400, 'BadRequest', `parsing time ${JSON.stringify(time)}`);
  }
  return parsed;
}

function refusal(code: number, reason: string, message: string): KubernetesApiError {
  return new KubernetesApiError({ code, reason }, message);
}
